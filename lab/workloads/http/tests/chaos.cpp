// Clients that misbehave: each of `connections` fibers does one thing after the other that a server
// on the open network meets, until all the requests that deserve an answer have got theirs.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/http/load.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/tests/memory_watch.hpp"

namespace heddle::lab::http {
namespace {

using namespace coop;
using namespace std::chrono_literals;

// A server may have had enough of a client that took so long, as can happen on a busy machine.
constexpr auto slow = 1s;

struct refused_request {
  std::string text;
  int status;
};

std::vector<refused_request> refused_requests() {
  const std::string host = "Host: loopback\r\n";
  const std::string get = "GET / HTTP/1.1\r\n";
  const std::string post = "POST /echo HTTP/1.1\r\n" + host;
  return {
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 505},
      {get + "\r\n", 400},
      {get + host + host + "\r\n", 400},
      {get + host + "no colon\r\n\r\n", 400},
      {get + host + "A: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
      {"GET /" + std::string(5'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"FROB / HTTP/1.1\r\n" + host + "\r\n", 501},
      {post + "Content-Length: 99999999\r\n\r\n", 413},
      {post + "Content-Length: 1x\r\n\r\n", 400},
      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + std::string(3'000, 'a'), 413},
      {"\r\n\r\n\r\n", 400},
  };
}

class chaos {
 public:
  chaos(const load_plan& plan, const server_state& server)
      : plan_(plan),
        server_(server),
        random_(static_cast<std::uint64_t>(plan.seed)),
        left_(plan.requests),
        memory_(server.process, plan.requests) {}

  load_report run() {
    const io::service net(s_, {.only = io::mechanism::threads});
    for (int i = 0; i < plan_.connections; ++i) {
      s_.spawn([&] {
        while (left_ > 0) live_once(net);
      });
    }
    s_.run();
    report_.due = plan_.requests;
    report_.early_bytes = memory_.early();
    report_.late_bytes = memory_.late();
    // With fewer the most that it ever needs has not been needed by the second quarter.
    report_.memory_grows = plan_.requests >= 100 * plan_.connections && memory_.grows();
    return report_;
  }

 private:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

  // One connection's life.
  void live_once(const io::service& net) {
    const auto connected = await(net.connect(plan_.server));
    if (!connected) {
      wrong("a connect: " + connected.error().message());
      left_ = 0;
      return;
    }
    const io::socket& peer = connected.reached();
    const std::size_t choice = below(100);
    if (choice < 60) {
      behave(peer);
      return;
    }
    ++report_.odd;
    if (choice < 66) return;  // closes at once
    if (choice < 75) {
      send_garbage(peer);
    } else if (choice < 90) {
      send_refused(peer);
    } else if (choice < 95) {
      vanish_amid_request(peer);
    } else {
      vanish_amid_answer(peer);
    }
    if (below(2) == 0) reset(peer);
  }

  static void reset(const io::socket& peer) {
    const linger at_once = {1, 0};
    setsockopt(peer.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  exchange good_exchange() {
    static const std::string end = " HTTP/1.1\r\nHost: loopback\r\n";
    const std::string content(session::content(below(5'000)));
    const std::string size = std::to_string(content.size());
    switch (below(plan_.hop ? 5 : 4)) {
      case 0:
        return {"GET /bytes/" + size + end + "\r\n", content};
      case 1:
        return {"GET /chunked/" + size + end + "\r\n", content};
      case 2:
        return {"POST /echo" + end + "Content-Length: " + size + "\r\n\r\n" + content, content};
      case 3: {
        std::string chunks;
        for (std::size_t at = 0; at < content.size();) {
          const std::string piece = content.substr(at, 1 + below(1'000));
          char length[16];
          std::snprintf(length, sizeof length, "%zx\r\n", piece.size());
          chunks += length + piece + "\r\n";
          at += piece.size();
        }
        return {"PUT /echo" + end + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n",
                content};
      }
      default:
        return make_exchange(plan_, static_cast<std::int64_t>(below(1'000)));
    }
  }

  // Some requests, all at once or in pieces, and their answers.
  void behave(const io::socket& peer) {
    const auto begun = std::chrono::steady_clock::now();
    const auto count = std::min<std::int64_t>(left_, 1 + static_cast<std::int64_t>(below(8)));
    left_ -= count;
    std::string text;
    std::vector<std::string> contents;
    for (std::int64_t i = 0; i < count; ++i) {
      exchange next = good_exchange();
      text += next.request;
      contents.push_back(std::move(next.content));
    }
    if (!write_in_pieces(peer, text)) {
      give_back(count, begun, "a write failed");
      return;
    }
    // A half-close is no reason not to answer.
    if (below(4) == 0) static_cast<void>(peer.shutdown(io::ending::writing));
    std::string come;
    std::string content;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      int status = 0;
      if (!read_one(peer, come, status, content)) {
        give_back(count - static_cast<std::int64_t>(i), begun, "the server ended a connection");
        return;
      }
      if (status == 200 && content == contents[i]) {
        memory_.reached(++report_.right);
      } else {
        give_back(1, begun, "status " + std::to_string(status) + ": " + content.substr(0, 99));
      }
    }
  }

  bool write_in_pieces(const io::socket& peer, std::string_view text) {
    const std::size_t most = below(2) == 0 ? text.size() : 1 + below(text.size());
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, 1 + below(most));
      if (!await(peer.write_all(io::buffer::copy_of(piece)))) return false;
      text.remove_prefix(piece.size());
      await(yield());
    }
    return true;
  }

  // Returns whether an answer came.
  static bool read_one(const io::socket& peer, std::string& come, int& status,
                       std::string& content) {
    const io::buffer page(16 * 1024);
    for (;;) {
      if (const std::size_t length = read_answer(come, status, content)) {
        come.erase(0, length);
        return true;
      }
      const auto read = await(peer.read(page));
      if (!read || read.reached() == 0) return false;
      come += page.text(read.reached());
    }
  }

  // Requests were not answered: asks again if the cause may be this client's slowness.
  void give_back(std::int64_t count, std::chrono::steady_clock::time_point begun,
                 const std::string& what) {
    if (std::chrono::steady_clock::now() - begun < slow) {
      wrong(what);
    } else {
      left_ += count;
    }
  }
  void wrong(const std::string& what) {
    ++report_.wrong;
    report_.complain(what);
  }

  void send_garbage(const io::socket& peer) {
    std::string garbage(1 + below(5'000), '\0');
    for (char& each : garbage) each = static_cast<char>(below(256));
    if (below(2) == 0) garbage = "GET / HTTP/1.1\r\n" + garbage;
    static_cast<void>(write_in_pieces(peer, garbage));
    if (below(2) == 0) return;
    static_cast<void>(peer.shutdown(io::ending::writing));
    std::string come;
    std::string content;
    int status = 0;
    if (read_one(peer, come, status, content) && status < 400) {
      wrong("garbage was answered by " + std::to_string(status));
    }
  }

  void send_refused(const io::socket& peer) {
    static const std::vector<refused_request> all = refused_requests();
    const refused_request& one = all[below(all.size())];
    // The server may stop listening before it has all: that is its right.
    static_cast<void>(await(peer.write_all(io::buffer::copy_of(one.text))));
    const auto begun = std::chrono::steady_clock::now();
    std::string come;
    std::string content;
    int status = 0;
    const bool answered = read_one(peer, come, status, content);
    if (std::chrono::steady_clock::now() - begun > slow) return;
    if (!server_.own_protocol) return;  // it may know better, or stop listening in another way
    if (!answered || status != one.status) {
      wrong((answered ? "status " + std::to_string(status) : "no answer") + " instead of " +
            std::to_string(one.status) + " to " + one.text.substr(0, 80));
    }
  }

  void vanish_amid_request(const io::socket& peer) {
    const std::string text = good_exchange().request;
    static_cast<void>(write_in_pieces(peer, text.substr(0, below(text.size()))));
    if (below(20) == 0) static_cast<void>(await(peer.read(io::buffer(100))));  // until it gives up
  }

  void vanish_amid_answer(const io::socket& peer) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += "GET /bytes/1000000 HTTP/1.1\r\nHost: loopback\r\n\r\n";
    static_cast<void>(await(peer.write_all(io::buffer::copy_of(text))));
    if (below(2) == 0) static_cast<void>(await(peer.read(io::buffer(1'000))));
  }

  const load_plan& plan_;
  const server_state& server_;
  std::mt19937_64 random_;
  std::int64_t left_;  // requests that no client has begun
  load_report report_;
  memory_watch memory_;
  scheduler s_;
};

[[maybe_unused]] const auto registered = run_chaos =
    [](const load_plan& plan, const server_state& server) { return chaos(plan, server).run(); };

}  // namespace
}  // namespace heddle::lab::http
