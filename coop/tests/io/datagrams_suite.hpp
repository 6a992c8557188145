// Included once for each kind of strand: datagrams over UDP and Unix sockets, over every mechanism.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../strand_kinds.hpp"
#include "helpers.hpp"
#include "socket_pairs.hpp"

namespace {

using place = io::endpoint (*)();

/// Calls `test(s, net, at)`, which spawns strands, for every mechanism and address family, and runs
/// them. `at()` is where a socket can be bound, another place each time.
template <class Test>
void over_every_datagram(const Test& test) {
  over_every_socket_mechanism([&](const io::service_options& options) {
    const auto over = [&](place at) {
      scheduler s;
      const io::service net(s, options);
      const io::endpoint somewhere = at();
      if (const auto tried = net.datagrams_at(somewhere); !tried) {
        REQUIRE(somewhere.family() == AF_INET6);
        static bool said = false;
        if (!std::exchange(said, true)) MESSAGE("IPv6 is not tested: " << tried.error().message());
        return;
      }
      CAPTURE(somewhere.text());
      test(s, net, at);
      s.run();
    };
    over(&any_port);
    over([] { return io::endpoint::ip("::1", 0); });
    over(&unix_name);
  });
}

io::buffer text(std::string_view characters) { return io::buffer::copy_of(characters); }

}  // namespace

TEST_CASE(KIND
          "a datagram arrives whole, by itself, with its sender's address; also an empty one") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    const io::datagram_socket server = net.datagrams_at(at()).value();
    const io::datagram_socket client = net.datagrams_at(at()).value();
    s.spawn(BODY(=) {
      const io::buffer page(100);
      for (const std::string wanted : {"one", "", "three", ""}) {
        const io::datagram come = WAIT(server.receive(page)).value();
        CHECK(page.text(come.bytes) == wanted);
        CHECK(come.length == wanted.size());
        CHECK_FALSE(come.truncated());
        CHECK(come.from.text() == client.local().value().text());
        WAIT(server.send_to(page.part(0, come.bytes), come.from)).value();
      }
    });
    s.spawn(BODY(=) {
      const io::endpoint there = server.local().value();
      CHECK(server.name() != "");
      const io::buffer page(100);
      for (const std::string sent : {"one", "", "three"}) {
        WAIT(sleep_for(200us));
        WAIT(client.send_to(text(sent), there)).value();
        const io::datagram echo = WAIT(client.receive(page)).value();
        CHECK(page.text(echo.bytes) == sent);
        CHECK(echo.from.text() == there.text());
      }
      WAIT(client.send_to(io::buffer(), there)).value();
      CHECK(WAIT(client.receive(io::buffer())).value().length == 0);
    });
  });
}

TEST_CASE(KIND "a datagram that is longer than the buffer says so, and costs no other") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    s.spawn(BODY(=, &net, &s) {
      const io::datagram_socket to = net.datagrams_at(at()).value();
      const io::datagram_socket from = net.datagrams_at(at()).value();
      const io::buffer four(4);
      for (const bool waits : {true, false}) {
        CAPTURE(waits);
        auto sender = s.spawn(BODY(&) {
          if (waits) WAIT(sleep_for(1ms));
          for (const char* each : {"truncated", "next", "lost"}) {
            WAIT(from.send_to(text(each), to.local().value())).value();
          }
        });
        if (!waits) WAIT(sender.join());
        const io::datagram first = WAIT(to.receive(four)).value();
        CHECK(first.truncated());
        CHECK(first.length == 9);
        REQUIRE(first.bytes == 4);
        CHECK(four.text() == "trun");
        CHECK_FALSE(WAIT(to.receive(four)).value().truncated());
        CHECK(four.text() == "next");
        const io::datagram last = WAIT(to.receive(io::buffer())).value();
        CHECK(last.bytes == 0);
        CHECK(last.length == 4);
        if (waits) WAIT(sender.join());
      }
    });
  });
}

TEST_CASE(KIND "one that is connected sends to its peer, and hears nobody else") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    s.spawn(BODY(=, &net) {
      const io::datagram_socket left = net.datagrams_at(at()).value();
      const io::datagram_socket right = net.datagrams_at(at()).value();
      const io::datagram_socket other = net.datagrams_at(at()).value();
      CHECK(left.peer().error() == std::errc::not_connected);
      CHECK(WAIT(left.send(text("whom to?"))).error() !=
            std::errc::operation_would_block);  // EDESTADDRREQ, or ENOTCONN of Unix sockets
      left.connect(right.local().value()).value();
      CHECK(left.peer().value().text() == right.local().value().text());
      // The network drops it; a Unix socket refuses it.
      static_cast<void>(WAIT(other.send_to(text("spam"), left.local().value())));
      WAIT(right.send_to(text("ham"), left.local().value())).value();
      const io::buffer page(10);
      const io::datagram come = WAIT(left.receive(page)).value();
      CHECK(page.text(come.bytes) == "ham");
      WAIT(left.send(text("thanks"))).value();
      CHECK(page.text(WAIT(right.receive(page)).value().bytes) == "thanks");
      const io::datagram_socket nameless = net.datagrams_to(right.local().value()).value();
      WAIT(nameless.send(text("hello"))).value();
      const io::datagram hello = WAIT(right.receive(page)).value();
      CHECK(page.text(hello.bytes) == "hello");
      const bool has_name = hello.from.family() != AF_UNIX && hello.from.length() > 2;
      CHECK(has_name == (right.local().value().family() != AF_UNIX));
    });
  });
}

TEST_CASE(KIND "one that is connected is told, once, that nobody is there") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    s.spawn(BODY(=, &net, &s) {
      auto gone = std::make_unique<io::datagram_socket>(net.datagrams_at(at()).value());
      const io::endpoint there = gone->local().value();
      const io::datagram_socket mine = net.datagrams_to(there).value();
      WAIT(gone->close()).value();
      const io::buffer page(10);
      if (there.family() == AF_UNIX) {
        CHECK(WAIT(mine.send(text("?"))).error() == std::errc::connection_refused);
        CHECK(WAIT(mine.send_to(text("?"), there)).error() == std::errc::connection_refused);
        const io::endpoint nowhere = io::endpoint::local("no-such-socket");
        CHECK(WAIT(mine.send_to(text("?"), nowhere)).error() ==
              std::errc::no_such_file_or_directory);
        RETURN;
      }
      for (const bool waits : {true, false}) {
        CAPTURE(waits);
        auto sender = s.spawn(BODY(&) {
          if (waits) WAIT(sleep_for(1ms));
          WAIT(mine.send(text("?"))).value();
        });
        if (!waits) WAIT(sender.join());
        const auto refused = WAIT(mine.receive(page));
        CHECK(refused.error() == std::errc::connection_refused);
        CHECK_THROWS_WITH_AS(refused.value(),
                             ("a datagram from " + there.text() + ": Connection refused").c_str(),
                             std::system_error);
        if (waits) WAIT(sender.join());
      }
      CHECK_FALSE(WAIT(within(2ms, mine.receive(page))).has_value());
      // By the next send, if that is first.
      WAIT(mine.send(text("?"))).value();
      CHECK(WAIT(mine.send(text("?"))).error() == std::errc::connection_refused);
    });
  });
}

TEST_CASE(KIND "a datagram that cannot be sent is refused") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    s.spawn(BODY(=, &net) {
      const io::datagram_socket mine = net.datagrams_at(at()).value();
      const io::endpoint there = mine.local().value();
      mine.set_option(SOL_SOCKET, SO_SNDBUF, 10'000).value();
      CHECK(WAIT(mine.send_to(io::buffer(70'000), there)).error() == std::errc::message_size);
      if (there.family() == AF_INET) {
        const io::endpoint all = io::endpoint::ip("255.255.255.255", 9);
        CHECK(WAIT(mine.send_to(text("all"), all)).error() == std::errc::permission_denied);
      }
      CHECK(net.datagrams_at(there).error() == std::errc::address_in_use);
    });
  });
}

TEST_CASE(KIND "nothing is taken by a receive that was late or cancelled") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    s.spawn(BODY(=, &net, &s) {
      const io::datagram_socket to = net.datagrams_at(at()).value();
      const io::datagram_socket from = net.datagrams_at(at()).value();
      const io::buffer page(10);
      for (int i = 0; i < 10; ++i) {
        CHECK_FALSE(WAIT(within(100us, to.receive(page))).has_value());
        auto other = s.spawn(BODY(&) { static_cast<void>(WAIT(to.receive(page))); });
        WAIT(sleep_for(200us));
        CHECK_FALSE(other.done());
        other.cancel();
        CHECK_THROWS_AS(WAIT(other.join()), strand_cancelled);
        WAIT(from.send_to(text("data"), to.local().value())).value();
        CHECK(WAIT(to.receive(page)).value().bytes == 4);
        CHECK(page.text(4) == "data");
      }
    });
  });
}

TEST_CASE(KIND "several strands receive, each datagram goes to one of them, and all are heard") {
  over_every_datagram([](scheduler& s, const io::service& net, place at) {
    constexpr int count = 100;
    const io::datagram_socket to = net.datagrams_at(at()).value();
    const auto come = std::make_shared<std::multiset<std::string>>();
    for (int i = 0; i < 3; ++i) {
      s.spawn(BODY(=) {
        const io::buffer page(10);
        while (come->size() < count) {
          const auto next = WAIT(to.receive(page));
          if (!next) break;  // closed
          come->insert(std::string(page.text(next.reached().bytes)));
        }
        if (to.fd() >= 0) WAIT(to.close()).value();
      });
    }
    s.spawn(BODY(=, &net) {
      const io::datagram_socket from = net.datagrams_to(to.local().value()).value();
      std::multiset<std::string> sent;
      for (int i = 0; i < count; ++i) {
        sent.insert(std::to_string(i));
        WAIT(from.send(text(std::to_string(i)))).value();
        if (i % 8 == 0) WAIT(yield());
      }
      while (come->size() < count) WAIT(sleep_for(1ms));
      CHECK(*come == sent);
    });
  });
}

TEST_CASE(KIND "a receiver with a full queue keeps its senders waiting, and nobody else") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::datagram_socket full = net.datagrams_at(unix_name()).value();
    const io::datagram_socket free = net.datagrams_at(unix_name()).value();
    const io::endpoint there = full.local().value();
    constexpr int count = 700;  // net.unix.max_dgram_qlen is 10, or else 512
    int sent = 0;
    int sent_to = 0;
    bool over = false;
    s.spawn(BODY(&) {
      const io::datagram_socket connected = net.datagrams_to(there).value();
      for (; sent < count; ++sent) WAIT(connected.send(text("x"))).value();
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(2ms));
      CHECK(sent < count);
      const io::datagram_socket own = net.datagrams_at(unix_name()).value();
      // It holds up neither what goes elsewhere, nor its own end.
      auto waits = s.spawn(BODY(&) {
        WAIT(own.send_to(text("y"), there)).value();
        ++sent_to;
      });
      CHECK_FALSE(WAIT(within(30ms, own.send_to(text("late"), there))).has_value());
      CHECK_FALSE(waits.done());
      WAIT(own.send_to(text("z"), free.local().value())).value();
      for (const bool at_once : {true, false}) {
        auto cancelled = s.spawn(BODY(&) { WAIT(own.send_to(text("never"), there)).value(); });
        WAIT(yield());
        if (!at_once) WAIT(sleep_for(1ms));
        cancelled.cancel();
        CHECK_THROWS_AS(WAIT(cancelled.join()), strand_cancelled);
      }
      int come = 0;
      int come_to = 0;
      const io::buffer page(10);
      while (come < count || come_to < 1) {
        const io::datagram next = WAIT(full.receive(page)).value();
        REQUIRE(next.bytes == 1);
        (page.text(1) == "x" ? come : come_to) += 1;
      }
      WAIT(waits.join());
      CHECK(sent == count);
      CHECK(sent_to == 1);
      CHECK(WAIT(free.receive(page)).value().bytes == 1);
      over = true;
    });
    s.run();
    CHECK(over);
  });
}

TEST_CASE(KIND "close, and the service's end, end what waits for datagrams") {
  over_every_socket_mechanism([](const io::service_options& options) {
    const std::size_t before = open_descriptors();
    {
      scheduler s;
      auto net = std::make_unique<io::service>(s, options);
      const io::datagram_socket closed = net->datagrams_at(any_port()).value();
      const io::datagram_socket outlives = net->datagrams_at(any_port()).value();
      const io::datagram_socket full = net->datagrams_at(unix_name()).value();
      std::vector<std::error_code> errors;
      for (const io::datagram_socket& each : {closed, outlives}) {
        s.spawn(BODY(&, each) { errors.push_back(WAIT(each.receive(io::buffer(4))).error()); });
      }
      std::size_t sends = 0;
      s.spawn(BODY(&) {
        std::error_code error;
        for (; !error; ++sends) {
          error = WAIT(full.send_to(text("x"), full.local().value())).error();
        }
        errors.push_back(error);
      });
      std::string dump;
      s.spawn(BODY(&) {
        // Until no more fit: each takes a wait of its own where the ring sends.
        for (int idle = 0; idle < 5; ++idle) {
          const std::size_t before_the_wait = sends;
          WAIT(sleep_for(5ms));
          if (sends != before_the_wait) idle = 0;
        }
        dump = s.dump();
        WAIT(closed.close()).value();
        CHECK(errors.size() == 1);
        CHECK(WAIT(closed.receive(io::buffer(4))).error() == std::errc::bad_file_descriptor);
        CHECK(WAIT(closed.send(text("x"))).error() == std::errc::bad_file_descriptor);
        net.reset();
        CHECK(WAIT(outlives.receive(io::buffer(4))).error() == std::errc::bad_file_descriptor);
      });
      s.run();
      CHECK(errors == std::vector(3, std::make_error_code(std::errc::operation_canceled)));
      CHECK(dump.find("strand 1 waits for a datagram from \"127.0.0.1:0\"\n") != std::string::npos);
      CHECK(dump.find("strand 3 waits for a datagram to \"" + std::string(full.name()) + "\"\n") !=
            std::string::npos);
    }
    CHECK(open_descriptors() == before);
  });
}

TEST_CASE(KIND "a pair of datagram sockets can be adopted, and a port be had by several") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    const io::datagram_socket left = net.adopt_datagrams(ends[0], "left");
    const io::datagram_socket right = net.adopt_datagrams(ends[1], "right");
    const io::datagram_socket first = net.datagrams_at(any_port(), {.reuse_port = true}).value();
    CHECK(net.datagrams_at(first.local().value(), {.reuse_port = true}).error() ==
          std::error_code());
    constexpr int count = 2000;  // more than the kernel holds
    s.spawn(BODY(&) {
      for (int i = 0; i < count; ++i) WAIT(left.send(text(std::to_string(i)))).value();
    });
    s.spawn(BODY(&) {
      const io::buffer page(10);
      for (int i = 0; i < count; ++i) {
        const io::datagram come = WAIT(right.receive(page)).value();
        REQUIRE(page.text(come.bytes) == std::to_string(i));
      }
    });
    s.run();
  });
}
