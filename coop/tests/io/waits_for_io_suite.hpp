// Included once for each kind of strand: what waiting for I/O means for the scheduler, cancellation
// and time, over every mechanism.
#include <sys/time.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "../strand_kinds.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "others run, and timers come, while one waits for I/O") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    std::string order;
    s.spawn(BODY(&) {
      const io::buffer one(1);
      order += 'a';
      CHECK(WAIT(from.read(one)).value() == 1);
      order += 'd';
    });
    s.spawn(BODY(&) {
      for (int i = 0; i < 1000; ++i) WAIT(yield());
      order += 'b';
      WAIT(sleep_for(1ms));
      order += 'c';
      pipe.put("x");
    });
    s.run();
    CHECK(order == "abcd");
  });
}

TEST_CASE(KIND "a strand that only yields does not keep I/O from ending") {
  over_every_mechanism([](const io::service_options& options) {
    const temporary_file data("text");
    scheduler s;
    const io::service files(s, options);
    bool read = false;
    s.spawn(BODY(&) {
      const io::file f = WAIT(files.open(data.path(), O_RDONLY)).value();
      read = WAIT(f.read(io::buffer(4), 0)).value() == 4;
    });
    s.spawn(BODY(&) {
      while (!read) WAIT(yield());
    });
    s.run();
    CHECK(read);
  });
}

TEST_CASE(KIND "I/O in flight is no deadlock, and is named while it lasts") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "the pipe");
    heddle::coop::semaphore never(0, "never");
    std::string dump;
    s.spawn(
        BODY(&) { WAIT(from.read(io::buffer(1))).value(); }, "reader");
    s.spawn(
        BODY(&) { WAIT(never.P()); }, "stuck");
    std::thread outside([&] {
      std::this_thread::sleep_for(5ms);
      pipe.put("x");
    });
    s.spawn(BODY(&) {
      WAIT(yield());
      dump = s.dump();
    });
    CHECK_THROWS_WITH_AS(s.run(),
                         "deadlock: nothing can run any more, but 1 strand has not ended\n"
                         "  strand 2 \"stuck\" waits for semaphore \"never\"\n",
                         deadlock);
    outside.join();
    CHECK(dump.find("  strand 1 \"reader\" waits for a read of \"the pipe\"\n") == 0);
  });
}

TEST_CASE(KIND "after a cancelled read the kernel takes nothing from the pipe") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    const io::buffer memory(4);
    bool went_on = false;
    auto reader = s.spawn(BODY(&) {
      WAIT(from.read_all(memory)).value();
      went_on = true;
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      reader.cancel();
      CHECK_FALSE(reader.done());
      bool cancelled_it = false;
      try {
        WAIT(reader.join());
      } catch (const strand_cancelled&) {
        cancelled_it = true;
      }
      CHECK(cancelled_it);
      pipe.put("data");
      WAIT(sleep_for(1ms));
      CHECK(memory.text() == std::string(4, '\0'));
      CHECK(WAIT(from.read(memory)).value() == 4);
      CHECK(memory.text() == "data");
    });
    s.run();
    CHECK_FALSE(went_on);
  });
}

TEST_CASE(KIND "a read out of time keeps the buffer whole, and the strand goes on") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    s.spawn(BODY(&) {
      const io::buffer memory(4);
      const auto late = WAIT(within(2ms, from.read(memory)));
      CHECK_FALSE(late.has_value());
      pipe.put("data");
      const auto read = WAIT(within(10s, from.read(memory)));
      REQUIRE(read.has_value());
      CHECK(read->value() == 4);
      CHECK(memory.text() == "data");
    });
    s.run();
  });
}

TEST_CASE(KIND "a read_all out of time says how much it has read") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    bool over = false;
    s.spawn(BODY(&) {
      const io::buffer nine(9);
      CHECK_FALSE(WAIT(within(2ms, from.read_all(nine))).has_value());  // nothing: out of time
      pipe.put("abcde");
      auto part = WAIT(within(2ms, from.read_all(nine)));
      // On a busy machine the first bytes may take longer than that.
      for (int more = 0; !part.has_value() && more < 500; ++more) {
        part = WAIT(within(20ms, from.read_all(nine)));
      }
      REQUIRE(part.has_value());
      CHECK(part->error() == std::errc::stream_timeout);
      REQUIRE(part->reached() == 5);
      pipe.put("fghi");
      CHECK(WAIT(within(10s, from.read_all(nine.part(5)))).value().value() == 4);
      CHECK(nine.text() == "abcdefghi");
      // Cancelled instead: that is told as ever.
      pipe.put("jkl");
      auto other = s.spawn(BODY(&) { static_cast<void>(WAIT(from.read_all(nine))); });
      WAIT(sleep_for(2ms));
      other.cancel();
      CHECK_THROWS_AS(WAIT(other.join()), strand_cancelled);
      over = true;
    });
    s.run();
    CHECK(over);
  });
}

TEST_CASE(KIND "the service's end cancels what is in flight, and files outlive it") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    auto files = std::make_unique<io::service>(s, options);
    const io::file from = files->adopt(pipe.from, "pipe");
    std::error_code first;
    std::error_code second;
    s.spawn(BODY(&) {
      first = WAIT(from.read(io::buffer(4))).error();
      second = WAIT(from.read(io::buffer(4))).error();
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      files.reset();
    });
    s.run();
    CHECK(first == std::errc::operation_canceled);
    CHECK(second == std::errc::bad_file_descriptor);
    CHECK(is_open(pipe.from));
  });
}

TEST_CASE(KIND "close waits for the operations in flight") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    std::string order;
    s.spawn(BODY(&) {
      CHECK(WAIT(from.read(io::buffer(4))).value() == 2);
      order += "read ";
    });
    auto closer = s.spawn(BODY(&) {
      WAIT(from.close()).value();
      order += "closed";
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      CHECK(order.empty());
      closer.cancel();  // told at its next wait, which never comes
      CHECK(WAIT(from.fsync()).error() == std::errc::bad_file_descriptor);
      pipe.put("ab");
    });
    s.run();
    CHECK(order == "read closed");
    CHECK_FALSE(is_open(pipe.from));
  });
}

TEST_CASE(KIND "virtual time stands still for files, but not for pipes") {
  over_every_mechanism([](const io::service_options& options) {
    const temporary_file data("text");
    const pipe_ends pipe;
    scheduler s({.clock = clock_policy::simulated});
    const io::service files(s, options);
    bool first = false;
    s.spawn(BODY(&) {
      const io::file f = WAIT(files.open(data.path(), O_RDONLY)).value();
      for (int i = 0; i < 20; ++i) CHECK(WAIT(f.read(io::buffer(4), 0)).value() == 4);
      CHECK(s.now() == time_point{});
      first = true;
      const io::file from = files.adopt(pipe.from, "pipe");
      const auto late = WAIT(within(10h, from.read(io::buffer(4))));
      CHECK_FALSE(late.has_value());
      CHECK(s.now() == time_point{} + 10h);
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ns));
      CHECK(first);
    });
    s.run();
  });
}

TEST_CASE(KIND "signals interrupt nothing that can be seen") {
  struct sigaction counted = {};
  struct sigaction before;
  static volatile std::sig_atomic_t signals;
  signals = 0;
  counted.sa_handler = [](int) { signals = signals + 1; };  // no SA_RESTART
  REQUIRE(sigaction(SIGALRM, &counted, &before) == 0);
  const itimerval often = {{0, 500}, {0, 500}};
  REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    s.spawn(BODY(&) {
      const io::buffer piece(3);
      for (int i = 0; i < 20; ++i) CHECK(WAIT(from.read_all(piece)).value() == 3);
    });
    s.spawn(BODY(&) {
      for (int i = 0; i < 60; ++i) {
        WAIT(sleep_for(500us));
        pipe.put("x");
      }
    });
    s.run();
  });
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  CHECK(signals > 10);
}

TEST_CASE(KIND "an operation with a limit of its own has one result, in time, late and in part") {
  over_every_mechanism([](const io::service_options& options) {
    const pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "the pipe");
    bool over = false;
    s.spawn(BODY(&) {
      const io::buffer nine(9);
      const io::result<std::size_t> late = WAIT(from.read(nine).within(2ms));
      CHECK(late.error() == std::errc::timed_out);
      CHECK(late.reached() == 0);
      CHECK_THROWS_WITH_AS(late.value(), doctest::Contains("a read of the pipe: "),
                           std::system_error);
      pipe.put("abc");
      CHECK(WAIT(from.read(nine).within(std::chrono::hours::max())).value() == 3);
      pipe.put("abcde");
      auto part = WAIT(from.read_all(nine).within(2ms));
      // On a busy machine the first bytes may take longer than that.
      for (int more = 0; part.reached() == 0 && more < 500; ++more) {
        CHECK(part.error() == std::errc::timed_out);
        part = WAIT(from.read_all(nine).within(20ms));
      }
      CHECK(part.error() == std::errc::timed_out);
      CHECK(part.reached() == 5);
      over = true;
    });
    s.run();
    CHECK(over);
  });
}
