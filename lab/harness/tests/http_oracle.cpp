#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

using namespace heddle::lab;
using http::problem;

namespace {

// A blocking server of one connection, which answers every read by `answer`, at most `most` times.
verdict serve(const std::string& answer, int most) {
  const parameters values(problem::declare());
  problem work(values.with("connections", 1).with("requests", 10).with("size", 5));
  const int peer = accept(work.door(), nullptr, nullptr);
  REQUIRE(peer >= 0);
  char request[1000];
  for (int i = 0; i < most && read(peer, request, sizeof request) > 0; ++i) {
    ++work.server().requests;
    REQUIRE(send(peer, answer.data(), answer.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(answer.size()));
  }
  close(peer);
  return work.check();
}

std::string answer_of(const std::string& status, std::string_view content) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(content.size()) +
         "\r\n\r\n" + std::string(content);
}

}  // namespace

TEST_CASE("the oracle of the server wants each answer, whole and right") {
  const std::string_view right = http::session::content(5);
  CHECK(serve(answer_of("200 OK", right), 100).ok);
  CHECK_FALSE(serve(answer_of("200 OK", "wrong"), 100).ok);
  CHECK_FALSE(serve(answer_of("404 Not Found", right), 100).ok);
  CHECK_FALSE(serve(answer_of("200 OK", right), 9).ok);
}

TEST_CASE("the oracle of the server counts what the server keeps") {
  const parameters values(problem::declare());
  problem work(values.with("connections", 1).with("requests", 1).with("size", 5));
  const std::string answer = answer_of("200 OK", http::session::content(5));
  const int peer = accept(work.door(), nullptr, nullptr);
  char request[1000];
  REQUIRE(read(peer, request, sizeof request) > 0);
  REQUIRE(send(peer, answer.data(), answer.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(answer.size()));
  ++work.server().requests;
  const verdict kept = work.check();
  CHECK_FALSE(kept.ok);
  CHECK(kept.checked.find("1 descriptors more than before") != std::string::npos);
  close(peer);
}
