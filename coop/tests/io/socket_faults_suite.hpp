// Included once for each kind of strand: what goes wrong with sockets, over every mechanism. In all
// of it SIGPIPE would end the program.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../strand_kinds.hpp"
#include "helpers.hpp"
#include "socket_pairs.hpp"

TEST_CASE(KIND "where nobody listens, a connection is refused") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::endpoint nobody = free_port();
    const std::size_t before = open_descriptors();
    bool over = false;
    s.spawn(BODY(&) {
      const auto refused = WAIT(net.connect(nobody));
      CHECK(refused.error() == std::errc::connection_refused);
      CHECK_THROWS_WITH_AS(refused.value(),
                           ("a connect to " + nobody.text() + ": Connection refused").c_str(),
                           std::system_error);
      CHECK(WAIT(net.connect(unix_name())).error() == std::errc::connection_refused);
      over = true;
    });
    s.run();
    CHECK(over);
    CHECK(open_descriptors() <= before + 1);  // epoll's own
  });
}

TEST_CASE(KIND "a connect that nobody answers ends when its time is over, or it is cancelled") {
  over_every_socket_mechanism([](const io::service_options& options) {
    const deaf_listener deaf;
    scheduler s;
    const io::service net(s, options);
    bool went_on = false;
    s.spawn(BODY(&) {
      const auto late = WAIT(within(2ms, net.connect(deaf.address())));
      CHECK_FALSE(late.has_value());
      auto other = s.spawn(BODY(&) {
        WAIT(net.connect(deaf.address())).value();
        went_on = true;
      });
      WAIT(sleep_for(2ms));
      CHECK_FALSE(other.done());
      other.cancel();
      try {
        WAIT(other.join());
      } catch (const strand_cancelled&) {
      }
    });
    s.run();
    CHECK_FALSE(went_on);
  });
}

TEST_CASE(KIND "a peer that lets nothing in any more times out") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const auto [left, right] = connected_pair(net, true);
    // RFC 5482: how long what was sent may stay unacknowledged, here as the peer's window is zero.
    left.set_option(IPPROTO_TCP, TCP_USER_TIMEOUT, 50).value();
    std::error_code error;
    s.spawn(BODY(&, left = left) {
      const auto written = WAIT(left.write_all(io::buffer(20'000'000)));
      error = written.error();
      CHECK(written.reached() > 0);
      CHECK(written.reached() < 20'000'000);
    });
    s.run();
    CHECK(error == std::errc::timed_out);
  });
}

TEST_CASE(KIND "a connection that the peer throws away is reset") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool waits : {true, false}) {
      CAPTURE(waits);
      const raw_pair raw(true);
      scheduler s;
      const io::service net(s, options);
      const io::socket mine = net.adopt_socket(raw.accepted, "mine");
      std::error_code error;
      s.spawn(BODY(&) {
        if (!waits) WAIT(sleep_for(2ms));
        error = WAIT(mine.read_all(io::buffer(100))).error();
        CHECK(WAIT(mine.write(io::buffer(1))).error() == std::errc::broken_pipe);
      });
      s.spawn(BODY(&) {
        WAIT(sleep_for(1ms));
        const linger at_once = {1, 0};
        REQUIRE(setsockopt(raw.connected, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
        ::close(raw.connected);
      });
      s.run();
      CHECK(error == std::errc::connection_reset);
    }
  });
}

TEST_CASE(KIND "a peer that vanishes in the middle of a write ends it, without a signal") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool tcp : {true, false}) {
      CAPTURE(tcp);
      const raw_pair raw(tcp);
      scheduler s;
      const io::service net(s, options);
      const io::socket mine = net.adopt_socket(raw.accepted, "mine");
      std::vector<std::error_code> errors;
      std::size_t reached = 0;
      s.spawn(BODY(&) {
        const auto written = WAIT(mine.write_all(io::buffer(30'000'000)));
        reached = written.reached();
        errors.push_back(written.error());
        const std::array parts{io::buffer(1), io::buffer(1)};
        errors.push_back(WAIT(mine.write_all(parts)).error());
      });
      s.spawn(BODY(&) {
        WAIT(sleep_for(2ms));
        ::close(raw.connected);
      });
      s.run();
      REQUIRE(errors.size() == 2);
      CHECK(reached > 0);
      CHECK(reached < 30'000'000);
      // The data that was already in the kernel is reset, as the peer has not read it.
      CHECK((errors[0] == std::errc::connection_reset || errors[0] == std::errc::broken_pipe));
      CHECK(errors[1] == std::errc::broken_pipe);
    }
  });
}

TEST_CASE(KIND "with no descriptor left, a listener waits for one, and does not spin") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const io::endpoint there = door.address().value();
    const raw_client first(there);
    const raw_client second(there);
    std::vector<io::socket> accepted;
    s.spawn(BODY(&) {
      {
        const no_more_descriptors none;
        s.spawn(BODY(&) {
          for (int i = 0; i < 2; ++i) accepted.push_back(WAIT(door.accept()).value());
        });
        WAIT(sleep_for(55ms));
        CHECK(accepted.empty());
        CHECK(door.shortages() >= 1);
        CHECK(door.shortages() <= 20);
      }
      const auto begun = std::chrono::steady_clock::now();
      while (accepted.size() < 2) {
        WAIT(sleep_for(1ms));
        REQUIRE(std::chrono::steady_clock::now() - begun < 10s);
      }
    });
    s.run();
    CHECK(accepted.size() == 2);
  });
}

TEST_CASE(KIND "an accept that lacks a descriptor goes on when this service has closed one") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const raw_client client(door.address().value());
    auto [left, right] = connected_pair(net, true);
    bool accepted = false;
    s.spawn(BODY(&, &one = left) {
      const no_more_descriptors none;
      auto accepting = s.spawn(BODY(&) {
        const io::socket peer = WAIT(door.accept()).value();
        accepted = true;
      });
      while (door.shortages() == 0) WAIT(sleep_for(100us));
      WAIT(one.close()).value();
      WAIT(accepting.join());
    });
    s.run();
    CHECK(accepted);
  });
}

TEST_CASE(KIND "accept, read and write end at once when their time is over or they are cancelled") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const auto [left, right] = connected_pair(net, true);
    const auto [other_left, other_right] = connected_pair(net, true);
    int ended = 0;
    const auto end_each = [&](auto start) {
      s.spawn(BODY(&, start) {
        const auto late = WAIT(within(2ms, start()));
        // A write has moved something by then.
        CHECK((!late || late->error() == std::errc::stream_timeout));
        ++ended;
        auto other = s.spawn(BODY(start) { static_cast<void>(WAIT(start())); });
        WAIT(sleep_for(2ms));
        CHECK_FALSE(other.done());
        other.cancel();
        try {
          WAIT(other.join());
          ++ended;  // it was over already
        } catch (const strand_cancelled&) {
          ++ended;
        }
      });
    };
    const io::buffer page(10);
    const io::buffer much(20'000'000);
    end_each([&] { return door.accept(); });
    end_each([&, one = right] { return one.read(page); });
    end_each([&, one = other_left] { return one.write_all(much); });
    s.run();
    CHECK(ended == 6);
  });
}

TEST_CASE(KIND "nothing is taken from a socket after a read of it was cancelled") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const auto [left, right] = connected_pair(net, true);
    s.spawn(BODY(&, left = left, right = right) {
      const io::buffer page(4);
      for (int i = 0; i < 20; ++i) {
        CHECK_FALSE(WAIT(within(100us, right.read(page))).has_value());
        CHECK(WAIT(left.write(io::buffer::copy_of("data"))).value() == 4);
        CHECK(WAIT(right.read_all(page)).value() == 4);
        CHECK(page.text() == "data");
      }
    });
    s.run();
  });
}

TEST_CASE(KIND "close ends what others wait for on the socket") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(any_port()).value();
    const auto [left, right] = connected_pair(net, true);
    std::vector<std::error_code> errors;
    s.spawn(BODY(&, one = right) { errors.push_back(WAIT(one.read(io::buffer(4))).error()); });
    s.spawn(BODY(&, one = right) {
      errors.push_back(WAIT(one.write_all(io::buffer(20'000'000))).error());
    });
    s.spawn(BODY(&) { errors.push_back(WAIT(door.accept()).error()); });
    s.spawn(BODY(&, one = right) {
      WAIT(sleep_for(1ms));
      WAIT(one.close()).value();
      WAIT(door.close()).value();
      CHECK(errors == std::vector(3, std::make_error_code(std::errc::operation_canceled)));
      CHECK(WAIT(one.close()).error() == std::errc::bad_file_descriptor);
      CHECK(WAIT(one.read(io::buffer(4))).error() == std::errc::bad_file_descriptor);
      CHECK(WAIT(door.accept()).error() == std::errc::bad_file_descriptor);
    });
    s.run();
    CHECK(errors.size() == 3);
  });
}

TEST_CASE(KIND "the service's end cancels what waits for sockets, which outlive it") {
  over_every_socket_mechanism([](const io::service_options& options) {
    const std::size_t before = open_descriptors();
    {
      const deaf_listener deaf;
      scheduler s;
      auto net = std::make_unique<io::service>(s, options);
      const io::listener door = net->listen(any_port()).value();
      const auto [left, right] = connected_pair(*net, true);
      const auto [full, unread] = connected_pair(*net, true);
      std::vector<std::error_code> errors;
      s.spawn(BODY(&) { errors.push_back(WAIT(door.accept()).error()); });
      s.spawn(BODY(&, one = left) { errors.push_back(WAIT(one.read(io::buffer(4))).error()); });
      s.spawn(BODY(&, one = full) {
        errors.push_back(WAIT(one.write_all(io::buffer(20'000'000))).error());
      });
      s.spawn(BODY(&) { errors.push_back(WAIT(net->connect(deaf.address())).error()); });
      s.spawn(BODY(&) { errors.push_back(WAIT(net->connect("nowhere.invalid", 1)).error()); });
      auto given_up =
          s.spawn(BODY(&, one = left) { static_cast<void>(WAIT(one.read(io::buffer(4)))); });
      s.spawn(BODY(&, one = left) {
        while (errors.empty()) {
          WAIT(sleep_for(1ms));
          net.reset();
        }
        CHECK(WAIT(one.write(io::buffer(4))).error() == std::errc::bad_file_descriptor);
      });
      s.run();
      CHECK(given_up.done());
      REQUIRE(errors.size() == 5);
      // A name may have been looked up before.
      CHECK(std::count(errors.begin(), errors.end(), std::errc::operation_canceled) >= 4);
    }
    // The lookup runs to its end, on a thread of its own, with descriptors of its own.
    const auto begun = std::chrono::steady_clock::now();
    // An earlier one may have had some at the beginning.
    while (open_descriptors() > before && std::chrono::steady_clock::now() - begun < 10s) {
      std::this_thread::sleep_for(1ms);
    }
    CHECK(open_descriptors() <= before);
  });
}

TEST_CASE(KIND "a copy of a closed socket's descriptor, in a child for example, disturbs nobody") {
  over_every_socket_mechanism([](const io::service_options& options) {
    const raw_pair raw(true);
    const int copy = dup(raw.accepted);
    scheduler s;
    const io::service net(s, options);
    auto mine = std::make_unique<io::socket>(net.adopt_socket(raw.accepted, "mine"));
    s.spawn(BODY(&) {
      CHECK_FALSE(WAIT(within(1ms, mine->read(io::buffer(1)))).has_value());
      mine.reset();
      REQUIRE(::write(raw.connected, "x", 1) == 1);
      for (int i = 0; i < 3; ++i) {
        const auto [left, right] = connected_pair(net, true);
        CHECK_FALSE(WAIT(within(1ms, left.read(io::buffer(1)))).has_value());
      }
    });
    s.run();
    ::close(copy);
    ::close(raw.connected);
  });
}

TEST_CASE(KIND "the report of a deadlock names who waits for which socket") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::listener door = net.listen(unix_name()).value();
    const auto [left, right] = connected_pair(net, true);
    std::string dump;
    auto reader = s.spawn(BODY(one = left) { static_cast<void>(WAIT(one.read(io::buffer(1)))); });
    auto acceptor = s.spawn(BODY(&) { static_cast<void>(WAIT(door.accept())); });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      dump = s.dump();
      reader.cancel();
      acceptor.cancel();
    });
    s.run();
    CHECK(dump.find("strand 1 waits for a read from \"left\"\n") != std::string::npos);
    CHECK(dump.find("strand 2 waits for an accept at \"" + std::string(door.name()) + "\"\n") !=
          std::string::npos);
  });
}

TEST_CASE(KIND "another thread interrupts a wait for sockets, once a call") {
  over_every_socket_mechanism([](const io::service_options& options) {
    for (const bool sockets : {true, false}) {
      CAPTURE(sockets);
      scheduler s;
      const io::service net(s, options);
      heddle::coop::reactor& waits = net.reactor();
      CHECK(waits.interruptible());
      std::optional<io::listener> door;
      if (sockets) door = net.listen(any_port()).value();
      // One before the wait, and some during it.
      waits.interrupt();
      waits.wait(std::nullopt);
      for (int i = 0; i < 3; ++i) {
        std::thread other([&] {
          std::this_thread::sleep_for(2ms);
          waits.interrupt();
        });
        waits.wait(std::nullopt);
        other.join();
      }
    }
  });
}
