// The protocol, without any I/O.
#include "workloads/http/session.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "workloads/http/load.hpp"
#include "workloads/http/resp.hpp"

namespace heddle::lab::http_session_test {

using namespace heddle::lab::http;
using namespace std::chrono_literals;

// Feeds a session `text`, `piece` bytes at a time, and does its steps: what it has written, and `|`
// where it lingers, `.` where it closes.
struct conversation {
  server_state server;
  session peer{server};
  std::string written;
  bool over = false;

  void say(std::string_view text, std::size_t piece = SIZE_MAX) {
    for (;;) {
      switch (peer.next()) {
        case session::step::read: {
          if (text.empty()) return;
          const auto room = peer.room();
          const std::size_t count = std::min({piece, text.size(), room.size()});
          std::copy_n(reinterpret_cast<const std::byte*>(text.data()), count, room.data());
          text.remove_prefix(count);
          peer.received(count);
          break;
        }
        case session::step::write:
          written += peer.output().text();
          peer.written();
          break;
        case session::step::fetch:
          fetched += std::string(peer.key()) + ' ';
          peer.fetched(peer.key() == "none" ? session::found::nothing : session::found::value, "v");
          break;
        case session::step::linger:
          written += '|';
          over = true;
          return;
        case session::step::close:
          written += '.';
          over = true;
          return;
      }
    }
  }

  // The status and content of the next answer.
  std::string next_answer() {
    int status = 0;
    std::string content;
    const std::size_t length = read_answer(written, status, content);
    written.erase(0, length);
    return length == 0 ? "nothing" : std::to_string(status) + ' ' + content;
  }

  std::string fetched;
};

const std::string host = "Host: h\r\n";

std::string get(const std::string& target, const std::string& fields = {}) {
  return "GET " + target + " HTTP/1.1\r\n" + host + fields + "\r\n";
}

int status_of(const std::string& request, std::size_t piece = SIZE_MAX) {
  conversation with;
  with.say(request, piece);
  CHECK(with.over);
  return std::atoi(with.next_answer().c_str());
}

TEST_CASE("requests are answered in order, however they are cut and however many come at once") {
  const std::string all = get("/") + get("/bytes/5") + "POST /echo HTTP/1.1\r\n" + host +
                          "Content-Length: 5\r\n\r\nhello" + "PUT /echo HTTP/1.1\r\n" + host +
                          "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n" +
                          "PUT /echo HTTP/1.1\r\n" + host +
                          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get("/chunked/2500") +
                          get("/value/k") + get("/value/none") + "HEAD /bytes/5 HTTP/1.1\r\n" +
                          host + "\r\n" + get("/nowhere");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    CAPTURE(piece);
    conversation with;
    with.say(all, piece);
    CHECK(with.next_answer() == "200 Hello.\n");
    CHECK(with.next_answer() == "200 0\n1\n2");
    CHECK(with.next_answer() == "200 hello");
    CHECK(with.next_answer() == "200 hello");
    CHECK(with.next_answer() == "200 ");
    CHECK(with.next_answer() == "200 " + std::string(session::content(2500)));
    CHECK(with.next_answer() == "200 v");
    CHECK(with.next_answer() == "404 Not Found");
    const std::string head = with.written.substr(0, with.written.find("\r\n\r\n") + 4);
    CHECK(head.find("Content-Length: 5\r\n") != std::string::npos);
    with.written.erase(0, head.size());
    CHECK(with.next_answer() == "404 Not Found");
    CHECK(with.written.empty());
    CHECK(with.fetched == "k none ");
    CHECK(with.server.requests == 10);
    CHECK(with.peer.idle());
  }
}

TEST_CASE("what is wrong with a request is said, and ends the connection") {
  const std::string post = "POST /echo HTTP/1.1\r\n" + host;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, SIZE_MAX}) {
    CAPTURE(piece);
    CHECK(status_of("nonsense\r\n\r\n", piece) == 400);
    CHECK(status_of(std::string("\0\1\2\3\r\n\r\n", 8), piece) == 400);
    CHECK(status_of("GET / HTTP/1.1\r\n\r\n", piece) == 400);
    CHECK(status_of(get("/", host), piece) == 400);
    CHECK(status_of(get("/", "no colon\r\n"), piece) == 400);
    CHECK(status_of(get("/" + std::string(5'000, 'a')), piece) == 414);
    CHECK(status_of(get("/" + std::string(9'000, 'a')), piece) == 414);
    CHECK(status_of(get("/", "A: " + std::string(9'000, 'a') + "\r\n"), piece) == 431);
    CHECK(status_of(post + "Content-Length: 1048577\r\n\r\n", piece) == 413);
    CHECK(status_of(post + "Content-Length: -1\r\n\r\n", piece) == 400);
    CHECK(status_of(post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", piece) ==
          400);
    CHECK(status_of(post + "Transfer-Encoding: gzip\r\n\r\n", piece) == 501);
    CHECK(status_of(post + "Transfer-Encoding: chunked\r\n\r\nx\r\n", piece) == 400);
    CHECK(status_of(post + "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", piece) == 413);
    CHECK(status_of("BREW / HTTP/1.1\r\n" + host + "\r\n", piece) == 501);
    CHECK(status_of("GET / HTTP/2.0\r\n" + host + "\r\n", piece) == 505);
    CHECK(status_of("GET / HTPP/1.1\r\n" + host + "\r\n", piece) == 400);
  }
}

TEST_CASE("a method that a resource has not got is 405, and the connection goes on") {
  conversation with;
  with.say("DELETE / HTTP/1.1\r\n" + host + "\r\n" + get("/echo") + get("/"));
  CHECK(with.next_answer().starts_with("405"));
  CHECK(with.next_answer().starts_with("405"));
  CHECK(with.next_answer().starts_with("200"));
  CHECK_FALSE(with.over);
}

TEST_CASE("connections are kept as the client's version and fields ask for") {
  const auto ends = [](const std::string& request) {
    conversation with;
    with.say(request);
    const bool told = with.written.find("Connection: close\r\n") != std::string::npos;
    CHECK(told == with.over);
    return with.over;
  };
  CHECK_FALSE(ends(get("/")));
  CHECK(ends(get("/", "Connection: close\r\n")));
  CHECK(ends("GET / HTTP/1.0\r\n\r\n"));
  CHECK_FALSE(ends("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST_CASE("to an older client nothing goes in chunks") {
  conversation with;
  with.say("GET /chunked/5 HTTP/1.0\r\n\r\n");
  CHECK(with.written.find("chunked") == std::string::npos);
  CHECK(with.next_answer() == "200 0\n1\n2");
}

TEST_CASE("a body that the client asks leave for is asked for") {
  conversation with;
  with.say("POST /echo HTTP/1.1\r\n" + host + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(with.written == "HTTP/1.1 100 Continue\r\n\r\n");
  with.say("ab");
  CHECK(with.next_answer() == "200 ab");
}

TEST_CASE("slow clients get 408 amid a request, and a plain end between requests") {
  conversation with;
  with.server.allowed.header = 0ms;
  CHECK(with.peer.patience() == with.server.allowed.idle);
  with.say("GET / HT");
  CHECK(with.peer.patience() == 0ns);
  with.peer.timed_out();
  with.say("");
  CHECK(with.over);
  CHECK(with.next_answer().starts_with("408"));

  conversation body;
  body.say("POST /echo HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n");
  CHECK(body.peer.patience() > body.server.allowed.header);
  CHECK(body.peer.patience() <= body.server.allowed.body);

  conversation idle;
  idle.say(get("/"));
  idle.written.clear();
  idle.peer.timed_out();
  idle.say("");
  CHECK(idle.written == ".");
}

TEST_CASE("a client that has ended its direction still gets its answers") {
  conversation with;
  const std::string text = get("/") + get("/");
  const auto room = with.peer.room();
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), room.data());
  with.peer.received(text.size());
  with.peer.received(0);
  with.say("");
  CHECK(with.next_answer().starts_with("200"));
  CHECK(with.next_answer().starts_with("200"));
  CHECK(with.written == ".");
}

TEST_CASE("answers to come are bounded, however many requests have come") {
  conversation with;
  with.server.allowed.pipelined = 3;
  std::string text;
  for (int i = 0; i < 10; ++i) text += get("/");
  const auto room = with.peer.room();
  REQUIRE(text.size() <= room.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), room.data());
  with.peer.received(text.size());
  CHECK(with.peer.next() == session::step::write);
  CHECK(with.server.requests == 3);
  with.say("");
  CHECK(with.server.requests == 10);
}

TEST_CASE("a server that stops ends connections with their next answers") {
  conversation with;
  with.say(get("/"));
  CHECK_FALSE(with.over);
  with.server.stopping = true;
  with.say(get("/"));
  CHECK(with.over);
}

TEST_CASE("the back end's answers are found whole, and what is none is seen") {
  reply answer;
  CHECK(read_reply("", answer) == reply_state::incomplete);
  CHECK(read_reply("$3\r\nab", answer) == reply_state::incomplete);
  CHECK(read_reply("$3\r\nabcd", answer) == reply_state::incomplete);
  REQUIRE(read_reply("$3\r\nabc\r\n$", answer) == reply_state::whole);
  CHECK(answer.value == "abc");
  CHECK(answer.bytes == 9);
  REQUIRE(read_reply("$-1\r\n", answer) == reply_state::whole);
  CHECK_FALSE(answer.found);
  CHECK(read_reply("-ERR no\r\n", answer) == reply_state::broken);
  CHECK(read_reply("$x\r\n", answer) == reply_state::broken);
  CHECK(read_reply("$3\r\nabcde", answer) == reply_state::broken);
  bytes asked(100);
  write_get(asked, "key");
  std::size_t taken = 0;
  CHECK(read_get(asked.text(), taken) == "key");
  CHECK(taken == asked.size());
}

}  // namespace heddle::lab::http_session_test
