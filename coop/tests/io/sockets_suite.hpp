// Included once for each kind of strand: what sockets do, over every mechanism.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../strand_kinds.hpp"
#include "helpers.hpp"
#include "socket_pairs.hpp"

TEST_CASE(KIND "what is written to a socket is read from its peer, until a half-close each way") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool tcp : {true, false}) {
      CAPTURE(tcp);
      scheduler s;
      const io::service net(s, options);
      const io::listener door = net.listen(tcp ? any_port() : unix_name()).value();
      const io::endpoint there = door.address().value();
      int over = 0;
      s.spawn(BODY(&) {
        const io::socket peer = WAIT(door.accept()).value();
        CHECK(peer.name() == door.name());
        const io::buffer page(64);
        CHECK(WAIT(peer.read_all(page)).value() == 12);
        CHECK(page.text(12) == "hello, world");
        // The other direction is still open.
        CHECK(WAIT(peer.write_all(io::buffer::copy_of("bye"))).value() == 3);
        peer.shutdown(io::ending::writing).value();
        CHECK(WAIT(peer.read(page)).value() == 0);
        CHECK(WAIT(peer.write(page)).error() == std::errc::broken_pipe);
        WAIT(peer.close()).value();
        CHECK(peer.fd() == -1);
        ++over;
      });
      s.spawn(BODY(&) {
        const io::socket peer = WAIT(net.connect(there)).value();
        CHECK(peer.name() == there.text());
        CHECK(peer.peer().value().text() == there.text());
        CHECK(WAIT(peer.write(io::buffer::copy_of("hello, "))).value() == 7);
        WAIT(sleep_for(1ms));
        const std::array parts{io::buffer::copy_of("wo"), io::buffer(), io::buffer::copy_of("rld")};
        CHECK(WAIT(peer.write_all(parts)).value() == 5);
        peer.shutdown(io::ending::writing).value();
        const io::buffer page(64);
        CHECK(WAIT(peer.read(page)).value() == 3);
        CHECK(page.text(3) == "bye");
        CHECK(WAIT(peer.read(page)).value() == 0);
        CHECK(WAIT(peer.read(page)).value() == 0);
        ++over;
      });
      s.run();
      CHECK(over == 2);
    }
  });
}

TEST_CASE(KIND "what is more than the kernel holds arrives whole and in order, both ways at once") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool tcp : {true, false}) {
      CAPTURE(tcp);
      scheduler s;
      const io::service net(s, options);
      const auto [left, right] = connected_pair(net, tcp);
      // Larger than what a socket's buffers grow to; a prime, so that no piece fits.
      const std::string sent = counted_text(5'000'011);
      int right_ones = 0;
      for (const auto& [from, to] : {std::pair(left, right), std::pair(right, left)}) {
        s.spawn(BODY(&, from) {
          const io::buffer all = io::buffer::copy_of(sent);
          const std::array parts{all.part(0, 3), all.part(3, 1'000'000), all.part(1'000'003)};
          CHECK(WAIT(from.write_all(parts)).value() == sent.size());
          CHECK(WAIT(from.write_all(all)).value() == sent.size());
          from.shutdown(io::ending::writing).value();
        });
        s.spawn(BODY(&, to) {
          const io::buffer all(sent.size());
          CHECK(WAIT(to.read_all(all)).value() == sent.size());
          right_ones += all.text() == sent;
          std::string rest;
          const io::buffer page(100'000);
          while (const std::size_t count = WAIT(to.read(page)).value()) rest += page.text(count);
          right_ones += rest == sent;
        });
      }
      s.run();
      CHECK(right_ones == 4);
    }
  });
}

TEST_CASE(KIND "several strands accept, and many peers are served at once") {
  over_every_socket_mechanism([](const io::service_options& options) {
    constexpr int peers = 100;
    scheduler s;
    const std::size_t before = open_descriptors();
    {
      const io::service net(s, options);
      const io::listener door = net.listen(any_port(), {.backlog = 20}).value();
      const io::endpoint there = door.address().value();
      int accepted = 0;
      int right = 0;
      for (int i = 0; i < 3; ++i) {
        s.spawn(BODY(&) {
          while (accepted < peers) {
            const auto come = WAIT(door.accept());
            if (!come) break;  // closed
            ++accepted;
            s.spawn(BODY(peer = come.reached()) {
              const io::buffer page(16);
              while (const std::size_t count = WAIT(peer.read(page)).value()) {
                CHECK(WAIT(peer.write_all(page.part(0, count))).value() == count);
              }
            });
          }
          if (door.fd() >= 0) WAIT(door.close()).value();
        });
      }
      for (int i = 0; i < peers; ++i) {
        s.spawn(BODY(&, i) {
          const io::socket peer = WAIT(net.connect(there)).value();
          const std::string text = std::to_string(1000 + i);
          const io::buffer answer(4);
          for (int round = 0; round < 20; ++round) {
            CHECK(WAIT(peer.write_all(io::buffer::copy_of(text))).value() == 4);
            CHECK(WAIT(peer.read_all(answer)).value() == 4);
            right += answer.text() == text;
          }
        });
      }
      s.run();
      CHECK(accepted == peers);
      CHECK(right == peers * 20);
    }
    CHECK(open_descriptors() == before);
  });
}

TEST_CASE(KIND "an accept is begun, however much else waits for the kernel") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const raw_client client(door.address().value());
    bool accepted = false;
    s.spawn(BODY(&) {
      // The ring's own request is with the kernel after the first wait.
      const auto [left, right] = connected_pair(net, true);
      CHECK_FALSE(WAIT(within(1ms, left.read(io::buffer(1)))).has_value());
      // Reads that never end fill the ring's queue of requests.
      std::vector<raw_pair> silent;
      for (unsigned i = 0; i < options.depth; ++i) {
        silent.emplace_back(false);
        s.spawn(BODY(one = net.adopt_socket(silent[i].accepted, "silent")) {
          CHECK(WAIT(one.read(io::buffer(1))).value() == 0);
        });
      }
      accepted = WAIT(door.accept()).value().fd() >= 0;
      for (const raw_pair& each : silent) ::close(each.connected);
    });
    s.run();
    CHECK(accepted);
  });
}

TEST_CASE(KIND "connections that nobody waits for stay there, or end with the listener") {
  over_every_socket_mechanism([](const io::service_options& options) {
    constexpr std::size_t peers = 150;
    scheduler s;
    const io::service net(s, options);
    std::vector<std::unique_ptr<raw_client>> clients;
    const io::listener other = net.listen(any_port()).value();
    bool over = false;
    s.spawn(BODY(&) {
      // A strand waits for the kernel all the time.
      auto elsewhere = s.spawn(BODY(&) { static_cast<void>(WAIT(other.accept())); });
      for (const bool all : {true, false, true}) {
        CAPTURE(all);
        clients.clear();
        WAIT(sleep_for(1ms));  // an operation that was cancelled may have descriptors still
        const std::size_t before = open_descriptors();
        const io::listener door = net.listen(any_port()).value();
        const io::endpoint there = door.address().value();
        // A cancelled accept, and a late one, before there are any.
        CHECK_FALSE(WAIT(within(1ms, door.accept())).has_value());
        auto cancelled = s.spawn(BODY(&) { static_cast<void>(WAIT(door.accept())); });
        WAIT(yield());
        cancelled.cancel();
        CHECK_THROWS_AS(WAIT(cancelled.join()), strand_cancelled);
        std::set<std::string> names;
        for (std::size_t i = 0; i < peers; ++i) {
          clients.push_back(std::make_unique<raw_client>(there));
          names.insert(clients.back()->name());
          if (i % 10 == 9) WAIT(sleep_for(100us));
        }
        // Most of them are the kernel's.
        CHECK(open_descriptors() - before <= 1 + peers + 100);
        std::vector<io::socket> accepted;
        for (std::size_t i = 0; i < (all ? peers : 3); ++i) {
          accepted.push_back(WAIT(door.accept()).value());
          CHECK(names.erase(accepted.back().peer().value().text()) == 1);
        }
        CHECK_FALSE((all && WAIT(within(1ms, door.accept()))));
        WAIT(door.close()).value();
        // The port is free at once.
        CHECK(net.listen(there).error() == std::error_code());
        accepted.clear();
        for (const auto& each : clients) {
          char byte;
          CHECK(recv(each->fd(), &byte, 1, 0) <= 0);  // the end, or a reset
        }
        clients.clear();
        CHECK(open_descriptors() == before);
      }
      elsewhere.cancel();
      over = true;
    });
    s.run();
    CHECK(over);
  });
}

TEST_CASE(KIND "a peer that always has more to say keeps nobody from running") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const auto [left, right] = connected_pair(net, true);
    int read = 0;
    int read_when_others_ran = -1;
    s.spawn(BODY(&, left = left, right = right) {
      CHECK(WAIT(left.write_all(io::buffer(1000))).value() == 1000);
      s.spawn(BODY(&) {
        read_when_others_ran = read;
        RETURN;
      });
      const io::buffer one(1);
      for (; read < 1000; ++read) CHECK(WAIT(right.read(one)).value() == 1);
    });
    s.run();
    CHECK(read == 1000);
    CHECK(read_when_others_ran < 100);
  });
}

TEST_CASE(KIND "one connects by name, and is told why not") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const std::uint16_t port = door.address().value().port();
    bool over = false;
    s.spawn(BODY(&) {
      // Both of localhost's addresses are tried, if it has two: only one is listened at.
      const io::socket there = WAIT(net.connect("localhost", port)).value();
      CHECK(there.peer().value().port() == port);
      const auto nowhere = WAIT(net.connect("no-such-host.invalid", 1));
      REQUIRE_FALSE(nowhere);
      CHECK(nowhere.error() != std::errc::connection_refused);
      try {
        nowhere.value();
      } catch (const std::system_error& error) {
        CHECK(std::string(error.what()).find("a connect to no-such-host.invalid:1 (") == 0);
      }
      // No strand waits for a lookup that was given up.
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(WAIT(within(0s, net.connect("no-such-host.invalid", 1))));
      }
      over = true;
    });
    s.run();
    CHECK(over);
  });
}

TEST_CASE(KIND "a transfer of all that is out of time says how much it has moved") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool tcp : {true, false}) {
      CAPTURE(tcp);
      scheduler s;
      const io::service net(s, options);
      const auto [left, right] = connected_pair(net, tcp);
      const std::string sent = counted_text(20'000'000);
      bool over = false;
      s.spawn(BODY(&, left = left, right = right) {
        const io::buffer all(sent.size());
        CHECK_FALSE(WAIT(within(2ms, right.read_all(all))).has_value());
        const io::buffer from = io::buffer::copy_of(sent);
        const auto written = WAIT(within(20ms, left.write_all(from)));
        REQUIRE(written.has_value());
        CHECK(written->error() == std::errc::stream_timeout);
        const std::size_t there = written->reached();
        REQUIRE(there < sent.size());
        const auto read = WAIT(within(20ms, right.read_all(all)));
        REQUIRE(read.has_value());
        CHECK(read->error() == std::errc::stream_timeout);
        const std::size_t here = read->reached();
        REQUIRE(here <= there);
        // Nothing is lost or doubled if both go on from there.
        auto rest = s.spawn(BODY(&) {
          CHECK(WAIT(left.write_all(from.part(there))).value() == sent.size() - there);
        });
        CHECK(WAIT(right.read_all(all.part(here))).value() == sent.size() - here);
        WAIT(rest.join());
        CHECK(all.text() == sent);
        over = true;
      });
      s.run();
      CHECK(over);
    }
  });
}

TEST_CASE(KIND "sockets know their addresses and options") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port(), {.reuse_port = true}).value();
    const io::listener other = net.listen(door.address().value(), {.reuse_port = true}).value();
    CHECK(net.listen(door.address().value()).error() == std::errc::address_in_use);
    const io::listener lone = net.listen(any_port()).value();
    bool over = false;
    s.spawn(BODY(&) {
      const io::socket left = WAIT(net.connect(lone.address().value())).value();
      const io::socket right = WAIT(lone.accept()).value();
      CHECK(left.local().value().text() == right.peer().value().text());
      CHECK(right.local().value().text() == left.peer().value().text());
      for (const io::socket& each : {left, right}) {
        CHECK(option_of(each, IPPROTO_TCP, TCP_NODELAY) != 0);
        each.set_no_delay(false).value();
        CHECK(option_of(each, IPPROTO_TCP, TCP_NODELAY) == 0);
        CHECK(each.set_option(SOL_SOCKET, -1, 1).error() == std::errc::no_protocol_option);
        CHECK((fcntl(each.fd(), F_GETFD) & FD_CLOEXEC) != 0);
      }
      over = true;
    });
    s.run();
    CHECK(over);
  });
}
