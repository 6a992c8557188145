// Links between processes.
#include "heddle/coop/link/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/parallel/channel.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/yield.hpp"
#include "parallel/helpers.hpp"

struct order {
  int number;
  std::string text;
};

template <>
struct heddle::coop::link_codec<order> {
  static void encode(const order& value, std::string& out) {
    out += std::to_string(value.number) + ':' + value.text;
  }
  static std::optional<order> decode(std::string_view bytes) {
    const std::size_t colon = bytes.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return order{std::stoi(std::string(bytes.substr(0, colon))),
                 std::string(bytes.substr(colon + 1))};
  }
};

namespace {

using client = link_end<order, std::string>;

// The main function of the other process: serves until its link is closed.
void serve(io::socket connection) {
  auto end = link_over<order, std::string>(std::move(connection), "served");
  end.on([](order wanted) -> task<std::string> {
    if (wanted.text == "throw") throw std::out_of_range("no such order");
    if (wanted.text == "much") co_return std::string(65 << 20, 'y');
    if (wanted.text == "die") kill(getpid(), SIGKILL);
    if (wanted.number % 3 == 0) co_await yield();
    co_return wanted.text + std::to_string(wanted.number);
  });
  await(end.finished());
}

/// A child that serves one end of a socketpair.
struct child {
  int fd = -1;  // ours
  pid_t pid = -1;

  child() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      close(ends[0]);
      {
        scheduler s;
        const io::service net(s);
        s.spawn([&] { serve(net.adopt_socket(ends[1], "parent")); });
        s.run();
      }
      _exit(0);
    }
    close(ends[1]);
    fd = ends[0];
  }
  int status() const {
    int status = -1;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    return status;
  }
};

/// The header of a message between processes.
struct frame {
  std::uint32_t bytes;
  std::uint32_t kind;
  std::uint64_t number;
};
constexpr std::uint32_t received = 6;
const std::uint64_t types = detail::types_number<order, std::string>();
const frame hello{0, 0, types};

std::string text(std::initializer_list<frame> frames) {
  std::string all;
  for (const frame& each : frames) all.append(reinterpret_cast<const char*>(&each), sizeof each);
  return all;
}

std::string outcome_of(client& end, order wanted) {
  try {
    return await(end.call(std::move(wanted)));
  } catch (const handler_failed& failed) {
    return failed.type() + ": " + failed.what();
  } catch (const link_closed& closed) {
    return closed.what();
  }
}

}  // namespace

TEST_CASE("a link to a child process is as one between groups") {
  const child other;
  scheduler s;
  const io::service net(s);
  std::vector<std::string> got;
  s.spawn([&] {
    client end = link_over<order, std::string>(net.adopt_socket(other.fd, "child"), "orders");
    for (int i = 0; i < 50; ++i) end.send({i, "nobody waits"});
    std::vector<strand<std::string>> calls;
    for (int i = 0; i < 200; ++i) {
      calls.push_back(s.spawn([&, i]() -> task<std::string> {
        // Named: GCC 12 destroys an aggregate that is a temporary beside a co_await twice.
        order wanted{i, std::string(static_cast<std::size_t>(i) * 50, 'x')};
        co_return co_await end.call(std::move(wanted));
      }));
    }
    for (const auto& each : calls) got.push_back(await(each.join()));
    got.push_back(outcome_of(end, {1, "throw"}));
  });
  s.run();
  REQUIRE(got.size() == 201);
  for (std::size_t i = 0; i < 200; ++i) {
    REQUIRE(got[i] == std::string(i * 50, 'x') + std::to_string(i));
  }
  CHECK(got[200] == "std::out_of_range: no such order");
  CHECK(other.status() == 0);  // it saw that the end was closed
}

TEST_CASE("a process that is killed closes its link") {
  const child other;
  scheduler s;
  const io::service net(s);
  std::string waited;
  std::string later;
  s.spawn([&] {
    client end = link_over<order, std::string>(net.adopt_socket(other.fd, "child"), "orders");
    CHECK(outcome_of(end, {7, "a"}) == "a7");
    waited = outcome_of(end, {1, "die"});
    later = outcome_of(end, {2, "a"});
    await(end.finished());
  });
  s.run();
  CHECK(waited == "link \"orders\" is closed: the other process is gone");
  CHECK(later == waited);
  const int status = other.status();
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

TEST_CASE("a message that is too long for another process fails by itself, and the link goes on") {
  const child other;
  scheduler s;
  const io::service net(s);
  s.spawn([&] {
    client end = link_over<order, std::string>(net.adopt_socket(other.fd, "child"), "orders");
    const std::string much(65 << 20, 'x');
    CHECK(outcome_of(end, {1, much}) ==
          "std::length_error: a request of 68157442 bytes: between processes one has 67108864 at "
          "most");
    CHECK(
        outcome_of(end, {1, "much"}) ==
        "std::length_error: a reply of 68157440 bytes: between processes one has 67108864 at most");
    end.send({2, much});
    CHECK(outcome_of(end, {1, "little"}) == "little1");
    const std::vector<order> back = end.take_returned();
    REQUIRE(back.size() == 1);
    CHECK(back[0].text.size() == much.size());
  });
  s.run();
  CHECK(other.status() == 0);
}

TEST_CASE("processes that do not know each other find their link by a path") {
  const std::string path = "@heddle-link-" + std::to_string(getpid());
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    bool right = false;
    {
      scheduler s;
      const io::service net(s);
      s.spawn([&] {
        for (;;) {
          auto connection = await(net.connect(io::endpoint::local(path)));
          if (!connection) {
            await(sleep_for(1ms));  // nobody listens yet
            continue;
          }
          client end = link_over<order, std::string>(std::move(connection).value());
          right = outcome_of(end, {5, "by path "}) == "by path 5";
          return;
        }
      });
      s.run();
    }
    _exit(right ? 0 : 1);
  }
  scheduler s;
  const io::service net(s);
  s.spawn([&] {
    const io::listener door = net.listen(io::endpoint::local(path)).value();
    serve(await(door.accept()).value());
  });
  s.run();
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
}

TEST_CASE("an end of a link to a process is used in another group than the connection's") {
  const child other;
  parallel::groups g({.count = 2});
  auto [from, to] = make_link<client>();
  std::vector<std::string> got;
  g[0].spawn([&, carrier = std::move(from)]() mutable {
    const io::service net(g[0].scheduler());
    carrier.send(link_over<order, std::string>(net.adopt_socket(other.fd, "child"), "moved"));
    await(carrier.finished());
  });
  g[1].spawn([&, carrier = std::move(to)]() mutable {
    carrier.on([&](client end) {
      for (int i = 0; i < 20; ++i) got.push_back(outcome_of(end, {i, "m"}));
      end.close();
      await(sleep_for(5ms));
      carrier.close();
    });
    await(carrier.finished());
  });
  g.run();
  REQUIRE(got.size() == 20);
  CHECK(got[19] == "m19");
  static_cast<void>(other.status());
}

// The test plays the other process: it compares the bytes that arrive and writes the replies.
TEST_CASE("a push to another process waits for receipts, and receipts are sent") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  scheduler s;
  const io::service net(s);
  int pushed = 0;
  bool early = true;
  int handled = 0;
  std::uint64_t receipts = 0;
  s.spawn([&] {
    client end = link_over<order, std::string>(net.adopt_socket(ends[0], "raw"), "raw");
    end.on([&](order) -> std::string {
      ++handled;
      return {};
    });
    const io::socket raw = net.adopt_socket(ends[1], "the other process");
    const auto write = [&](const std::string& bytes) {
      await(raw.write_all(io::buffer::copy_of(bytes))).value();
    };
    write(text({hello}));
    for (; pushed < 3; ++pushed) await(end.push({pushed, "x"}, 3));
    early = await(within(1ms, end.push({3, "x"}, 3)));
    write(text({{0, received, 2}}));
    for (; pushed < 5; ++pushed) await(end.push({pushed, "x"}, 3));
    for (int i = 0; i < 7; ++i) write(text({{3, 2, 0}}) + "1:a");
    const io::buffer page(4096);
    // A hello, five messages of 3 bytes, and receipts.
    std::string come;
    while (receipts < 7) {
      come += page.text(await(raw.read(page)).value());
      std::size_t at = sizeof(frame) + 5 * (sizeof(frame) + 3);
      for (receipts = 0; at + sizeof(frame) <= come.size(); at += sizeof(frame)) {
        frame each;
        std::memcpy(&each, come.data() + at, sizeof each);
        REQUIRE(each.kind == received);
        receipts += each.number;
      }
    }
  });
  s.run();
  CHECK_FALSE(early);
  CHECK(pushed == 5);
  CHECK(handled == 7);
  CHECK(receipts == 7);
}

// Calls come to the connection's group while that finds out: each is told once, whenever it comes.
TEST_CASE("a connection ends while strands of another group call over it") {
  stress(150, [](int round) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    parallel::groups g({.count = 2, .pin = round % 2 == 0});
    const io::service net(g[1].scheduler());
    parallel::channel<client> opened(0);
    int told = 0;
    g[1].spawn([&] {
      client end = link_over<order, std::string>(net.adopt_socket(ends[0], "peer"), "orders");
      end.detach();
      await(opened.push(std::move(end)));
    });
    g[0].spawn([&] {
      client end = std::move(*await(opened.pop()));
      in_scope(g[0].scheduler(), [&](scope& all) {
        for (int i = 0; i < 5; ++i) {
          all.spawn([&] {
            try {
              for (;;) static_cast<void>(await(within(20us, end.call({1, "?"}))));
            } catch (const link_closed&) {
              ++told;
            }
          });
        }
        await(sleep_for(std::chrono::microseconds(round % 20 * 10)));
        close(ends[1]);
      });
    });
    g.run();
    REQUIRE(told == 5);
  });
}

TEST_CASE("what makes no sense from another process closes the link, and says what it was") {
  const std::pair<std::string, std::string> cases[] = {
      {text({{0, 4, 1}}), "no hello came first"},
      {text({{0, 0, types + 1}}), "its link has other types"},
      {text({hello, hello}), "a second hello"},
      {text({hello, {0, 77, 0}}), "its kind is unknown"},
      {text({hello, {0, 3, 9}}), "a reply to a call that was not made"},
      {text({hello, {0, 4, 1}}), "an error without a type"},
      {text({hello, {0, received, 1}}), "a receipt of messages that were not sent"},
      {text({hello, {3, 1, 1}}) + "abc", "a request that cannot be decoded"},
      {text({hello, {7, 1, 1}}) + "abc:def", "it cannot be decoded: stoi"},
      {text({hello, {0xffffffff, 1, 1}}), "4294967295 bytes"},
      {text({hello}) + "half a frame", "the other process is gone"},
      {"", "the other process is gone"},
  };
  for (const auto& [bytes, reason] : cases) {
    CAPTURE(reason);
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    scheduler s;
    const io::service net(s);
    std::string what;
    s.spawn([&, sent = bytes] {
      client end = link_over<order, std::string>(net.adopt_socket(ends[0], "hostile"));
      REQUIRE(write(ends[1], sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
      REQUIRE(shutdown(ends[1], SHUT_WR) == 0);
      what = outcome_of(end, {1, "?"});
      await(end.finished());
    });
    s.run();
    CHECK(what.find(reason) != std::string::npos);
    close(ends[1]);
  }
}
