#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/in_path.hpp"
#include "workloads/http/reception.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http_oracle_test {

using http::problem;

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

TEST_CASE("the oracle of the server wants each answer, whole and right") {
  const std::string_view right = http::session::content(5);
  CHECK(serve(answer_of("200 OK", right), 100).ok);
  CHECK_FALSE(serve(answer_of("200 OK", "wrong"), 100).ok);
  CHECK_FALSE(serve(answer_of("404 Not Found", right), 100).ok);
  CHECK_FALSE(serve(answer_of("200 OK", right), 9).ok);
}

// A thread a connection, which answers requests of 5 bytes as `answer(server, n)` says, n counting
// them all. The clients' signal that ends it does not come where the server's process is wrong:
// then the end of all connections does.
verdict serve_wrk(const std::function<std::string(http::server_state&, int)>& answer) {
  parameters values(problem::declare());
  values.set("load", "wrk");
  problem work(values.with("connections", 3).with("size", 5).with("ms", 100));
  std::optional<http::reception> door(std::in_place, work.door(), std::initializer_list{SIGTERM});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::vector<std::jthread> clients;
  std::atomic<int> answered{0};
  for (;;) {
    const auto come = door->next(true, std::chrono::milliseconds(100));
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    if (come.signal == SIGTERM) break;
    if (work.server().process != getpid() && work.server().open == 0) break;
    if (come.client < 0) continue;
    work.server().opened();
    clients.emplace_back([&, fd = come.client] {
      char request[1000];
      while (std::chrono::steady_clock::now() < deadline && read(fd, request, sizeof request) > 0) {
        const std::string text = answer(work.server(), answered++);
        ++work.server().requests;
        if (send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) break;
      }
      close(fd);
      --work.server().open;
    });
  }
  clients.clear();
  door.reset();
  return work.check();
}

TEST_CASE("the oracle of the server sees wrong answers among those to wrk") {
  if (!in_path("wrk")) {
    MESSAGE("not run: wrk is missing: `apt-get install wrk`");
    return;
  }
  const std::string right = answer_of("200 OK", http::session::content(5));
  const auto now_and_then = [&](const std::string& wrong) {
    return serve_wrk(
        [&, wrong](http::server_state&, int n) { return n > 200 && n % 10 == 0 ? wrong : right; });
  };
  const verdict all_right = serve_wrk([&](http::server_state&, int) { return right; });
  CAPTURE(all_right.checked);
  CHECK(all_right.ok);
  CHECK_FALSE(now_and_then(answer_of("500 Internal Server Error", http::session::content(5))).ok);
  CHECK_FALSE(now_and_then(answer_of("200 OK", "wrong")).ok);
  CHECK_FALSE(now_and_then(answer_of("200 OK", "far too long, as wrk can tell")).ok);
}

TEST_CASE("where the server cannot be measured under wrk, the clients end and say so") {
  if (!in_path("wrk")) {
    MESSAGE("not run: wrk is missing: `apt-get install wrk`");
    return;
  }
  constexpr pid_t nobody = (1 << 22) + 1;  // above what any Linux gives (PID_MAX_LIMIT)
  const std::string right = answer_of("200 OK", http::session::content(5));
  // 107 come before wrk's and those beside it.
  const verdict found = serve_wrk([&](http::server_state& server, int n) {
    if (n == 150) server.process = nobody;
    return right;
  });
  CHECK_FALSE(found.ok);
  CAPTURE(found.checked);
  CHECK(found.checked.find("there is no process 4194305") != std::string::npos);
}

TEST_CASE("the oracle of the server sees processes and threads that are left") {
  const auto finish = [](const std::function<void(problem&)>& also) {
    const parameters values(problem::declare());
    problem work(values.with("connections", 1).with("requests", 1).with("size", 5));
    const int peer = accept(work.door(), nullptr, nullptr);
    char request[1000];
    REQUIRE(read(peer, request, sizeof request) > 0);
    const std::string answer = answer_of("200 OK", http::session::content(5));
    REQUIRE(send(peer, answer.data(), answer.size(), MSG_NOSIGNAL) > 0);
    ++work.server().requests;
    close(peer);
    also(work);
    return work.check();
  };
  CHECK(finish([](problem&) {}).ok);
  pid_t child = -1;
  CHECK_FALSE(finish([&](problem&) {
                child = fork();
                if (child == 0) {
                  pause();
                  _exit(0);
                }
              }).ok);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(finish([](problem& work) { work.server().failed = 1; }).ok);
  std::atomic<bool> enough{false};
  std::jthread thread;
  CHECK_FALSE(finish([&](problem&) { thread = std::jthread([&] { enough.wait(false); }); }).ok);
  enough = true;
  enough.notify_one();
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

}  // namespace heddle::lab::http_oracle_test
