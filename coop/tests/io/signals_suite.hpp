// Included once for each kind of strand: signals, processes and timers beside sockets.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <string>
#include <vector>

#include "../strand_kinds.hpp"
#include "heddle/coop/io/process.hpp"
#include "heddle/coop/io/signal_set.hpp"
#include "helpers.hpp"
#include "socket_pairs.hpp"

TEST_CASE(KIND "signals are waited for, while others run, and disturb nobody afterwards") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    sigset_t before;
    REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &before) == 0);
    {
      const io::signal_set wanted(net, {SIGUSR1, SIGUSR2});
      std::vector<int> come;
      s.spawn(BODY(&) {
        for (int i = 0; i < 2; ++i) {
          const io::signal_event signal = WAIT(wanted.next()).value();
          come.push_back(signal.number);
          CHECK(signal.sender == getpid());
        }
        const auto none = WAIT(within(1ms, wanted.next()));
        CHECK_FALSE(none.has_value());
      });
      s.spawn(BODY(&) {
        WAIT(sleep_for(1ms));
        CHECK(come.empty());
        kill(getpid(), SIGUSR2);
        while (come.empty()) WAIT(sleep_for(100us));
        kill(getpid(), SIGUSR1);
      });
      s.run();
      CHECK(come == std::vector{SIGUSR2, SIGUSR1});
    }
    sigset_t after;
    REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &after) == 0);
    CHECK(sigismember(&after, SIGUSR1) == sigismember(&before, SIGUSR1));
    CHECK_THROWS_WITH_AS(io::signal_set(net, {12345}), "there is no signal 12345",
                         std::invalid_argument);
  });
}

TEST_CASE(KIND "the end of a process is waited for, and how it ended is told to all who ask") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    int over = 0;
    const auto child = io::process::spawn(net, {"sh", "-c", "sleep 0.01; exit 7"}).value();
    for (int i = 0; i < 2; ++i) {
      s.spawn(BODY(&) {
        const io::exit_status how = WAIT(child.wait()).value();
        CHECK(how.code == 7);
        CHECK(how.signal == 0);
        CHECK_FALSE(how.ok());
        ++over;
      });
    }
    s.spawn(BODY(&) {
      const auto killed = io::process::spawn(net, {"sleep", "1000"}).value();
      const auto late = WAIT(within(1ms, killed.wait()));
      CHECK_FALSE(late.has_value());
      killed.signal(SIGTERM).value();
      CHECK(WAIT(killed.wait()).value().signal == SIGTERM);
      CHECK(killed.signal(SIGTERM).error() == std::errc::no_such_process);
      CHECK(WAIT(killed.wait()).value().signal == SIGTERM);
      ++over;
    });
    s.run();
    CHECK(over == 3);
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no zombies
    CHECK(io::process::spawn(net, {"/no/such/program"}).error() ==
          std::errc::no_such_file_or_directory);
    CHECK(io::process::spawn(net, {}).error() == std::errc::invalid_argument);
  });
}

TEST_CASE(KIND "a process writes where it is told to, and has no signal blocked") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const io::signal_set blocked(net, {SIGTERM});
    pipe_ends pipe;
    const io::file from = net.adopt(pipe.from, "pipe");
    std::string said;
    s.spawn(BODY(&) {
      const std::vector<std::string> command = {"sh", "-c", "echo said; kill $$"};
      const auto child = io::process::spawn(net, command, {.output = pipe.to}).value();
      pipe.close_writer();
      const io::buffer page(100);
      said = page.text(WAIT(from.read_all(page)).value());
      CHECK(WAIT(child.wait()).value().signal == SIGTERM);
    });
    s.run();
    CHECK(said == "said\n");
  });
}

TEST_CASE(KIND "timers come on time while sockets are waited for, and the other way round") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service net(s, options);
    const auto [left, right] = connected_pair(net, true);
    std::string order;
    s.spawn(BODY(&, one = left) {
      const auto begun = s.now();
      WAIT(sleep_for(3ms));
      CHECK(s.now() - begun >= 3ms);
      order += 'a';
      CHECK(WAIT(one.write_all(io::buffer(1))).value() == 1);
      WAIT(sleep_for(1ms));
      order += 'c';
    });
    s.spawn(BODY(&, one = right) {
      const auto read = WAIT(within(10s, one.read(io::buffer(1))));
      REQUIRE(read.has_value());
      CHECK(read->value() == 1);
      order += 'b';
    });
    s.run();
    CHECK(order == "abc");
  });
}

TEST_CASE(KIND "virtual time does not wait for sockets") {
  over_every_socket_mechanism([](const io::service_options& options) {
    scheduler s({.clock = clock_policy::simulated});
    const io::service net(s, options);
    const auto [left, right] = connected_pair(net, true);
    s.spawn(BODY(&, one = left) {
      const auto late = WAIT(within(10h, one.read(io::buffer(1))));
      CHECK_FALSE(late.has_value());
      CHECK(s.now() == time_point{} + 10h);
    });
    s.run();
  });
}
