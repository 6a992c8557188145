// Included once for each kind of strand.
#include "bodies.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "a call over a link results in what the handler returns") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, std::string>("names");
    std::vector<std::string> got;
    here.spawn(OWNER(&got, end = std::move(client)) {
      for (int i = 0; i < 100; ++i) got.push_back(WAIT(end.call(i)));
    });
    there.spawn(OWNER(end = std::move(server)) {
      end.on(HANDLER(std::string, int number) { RETURN std::to_string(number * number); });
      WAIT(end.finished());
    });
    run();
    REQUIRE(got.size() == 100);
    CHECK(got[7] == "49");
    CHECK(got[99] == "9801");
  });
}

// Each asks the other for one less: handlers wait for handlers, from side to side.
TEST_CASE(KIND "both ends of a link ask and answer, while they do") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [left, right] = make_link<int, int>();
    const auto answer = [](link_end<int, int>& end) {
      end.on(HANDLER(int, int rest, &end) {
        if (rest == 0) RETURN 0;
        RETURN rest + WAIT(end.call(rest - 1));
      });
    };
    int sum = 0;
    there.spawn(OWNER(&, end = std::move(right)) {
      answer(end);
      WAIT(end.finished());
    });
    here.spawn(OWNER(&, end = std::move(left)) {
      answer(end);
      sum = WAIT(end.call(40));
    });
    run();
    CHECK(sum == 820);
  });
}

TEST_CASE(KIND "one-way messages are handled in the order in which they were sent") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<std::unique_ptr<int>>();
    std::vector<int> got;
    here.spawn(OWNER(end = std::move(client)) {
      for (int i = 0; i < 200; ++i) {
        end.send(std::make_unique<int>(i));
        if (i % 7 == 0) WAIT(yield());
      }
    });
    there.spawn(OWNER(&got, end = std::move(server)) {
      end.on(HANDLER(void, std::unique_ptr<int> number, &got) {
        got.push_back(*number);
        RETURN;
      });
      WAIT(end.finished());
    });
    run();
    REQUIRE(got.size() == 200);
    for (int i = 0; i < 200; ++i) REQUIRE(got[static_cast<std::size_t>(i)] == i);
  });
}

TEST_CASE(KIND "at most so many messages are handled at once, and all in the end") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int>();
    int inside = 0;
    int most = 0;
    int handled = 0;
    here.spawn(OWNER(end = std::move(client)) {
      for (int i = 0; i < 20; ++i) end.send(i);
      WAIT(end.call(20));
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      end.on(
          HANDLER(void, int, &) {
            most = std::max(most, ++inside);
            WAIT(sleep_for(20us));
            --inside;
            ++handled;
          },
          3);
      WAIT(end.finished());
    });
    run();
    CHECK(handled == 21);
    CHECK(most == 3);
  });
}

// With send() there would be some hundred.
TEST_CASE(KIND "a sender that pushes keeps to the pace of its receiver") {
  static constexpr int messages = 300;
  static constexpr int most = 5;
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int>();
    std::atomic<int> begun{0};
    int sent = 0;
    int most_ahead = 0;
    std::vector<int> got;
    const auto push_all = [&](link_end<int>& end, const auto& next) {
      for (int i = 0; i < 3; ++i) {
        here.spawn(BODY(&) {
          while (sent < messages) {
            const int number = sent++;
            WAIT(end.push(number, most));
            most_ahead = std::max(most_ahead, number - begun.load());
          }
          next();
        });
      }
    };
    parallel::semaphore ended(0);
    here.spawn(OWNER(&, end = std::move(client)) {
      const auto next = [&] { ended.V(); };
      push_all(end, next);
      for (int i = 0; i < 3; ++i) WAIT(ended.P());
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      end.on(
          HANDLER(void, int number, &) {
            ++begun;
            got.push_back(number);
            if (number % 3 == 0) WAIT(sleep_for(20us));
            RETURN;
          },
          2);
      WAIT(end.finished());
    });
    run();
    REQUIRE(got.size() == messages);
    CHECK(std::is_sorted(got.begin(), got.end()));
    // Counts the messages that were not received, and those whose strands had not run yet.
    CHECK(most_ahead < most + 2);
  });
}

TEST_CASE(KIND "a push that waits is limited in time, and fails when the link is closed") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int>("slow");
    parallel::semaphore full(0);
    bool in_time = true;
    std::string told;
    std::vector<int> returned;
    here.spawn(OWNER(&, end = std::move(client)) {
      CHECK_THROWS_AS(static_cast<void>(end.push(0, 0)), std::invalid_argument);
      WAIT(end.push(1, 2));
      WAIT(end.push(2, 2));
      in_time = WAIT(within(1ms, end.push(3, 2)));
      full.V();
      try {
        WAIT(end.push(4, 2));
      } catch (const link_closed& closed) {
        told = closed.what();
      }
      returned = end.take_returned();
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      WAIT(full.P());
      WAIT(sleep_for(1ms));
      end.close();
    });
    run();
    CHECK_FALSE(in_time);
    CHECK(told == "link \"slow\" was closed at its other end");
    CHECK(returned == std::vector<int>{1, 2, 4});
  });
}

TEST_CASE(KIND "a push that nobody ever receives is a deadlock with a name") {
  scheduler s;
  auto [client, server] = make_link<int>("full");
  s.spawn(OWNER(end = std::move(client)) {
    for (;;) WAIT(end.push(1, 1));
  });
  CHECK_THROWS_WITH_AS(s.run(),
                       "deadlock: nothing can run any more, but 1 strand has not ended\n"
                       "  strand 1 waits for receipts over link \"full\"\n",
                       deadlock);
}

TEST_CASE(KIND "the caller can name what the handler threw") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, int>();
    std::vector<std::string> told;
    here.spawn(OWNER(&told, end = std::move(client)) {
      for (int i = 0; i < 4; ++i) {
        try {
          told.push_back(std::to_string(WAIT(end.call(i))));
        } catch (const handler_failed& failure) {
          told.push_back(failure.type() + ": " + failure.what());
        }
      }
    });
    there.spawn(OWNER(end = std::move(server)) {
      end.on(HANDLER(int, int number) {
        if (number == 0) throw std::out_of_range("no such row");
        if (number == 1) throw 42;
        if (number == 2) throw std::string("text");
        RETURN number;
      });
      WAIT(end.finished());
    });
    run();
    REQUIRE(told.size() == 4);
    CHECK(told[0] == "std::out_of_range: no such row");
    CHECK(told[1] == "int: the handler threw a int");
    CHECK(told[2].find("string") != std::string::npos);
    CHECK(told[3] == "3");
  });
}

TEST_CASE(KIND "an end is sent over another link, with what has come to it") {
  stress(4, [](int round) {
    parallel::groups g(varied(round));
    using carried = link_end<int, int>;
    auto [user, service] = make_link<int, int>("carried");
    auto [from, to] = make_link<carried>("carrier");
    int sum = 0;
    std::size_t served[2] = {0, 0};
    const std::size_t last = g.size() - 1;
    g[0].spawn(OWNER(&sum, end = std::move(user)) {
      for (int i = 0; i < 100; ++i) sum += WAIT(end.call(i));
    });
    // Serves some of the calls, then hands the end on.
    g[last].spawn(OWNER(&served, end = std::move(service), carrier = std::move(from)) {
      end.on(HANDLER(int, int number, &served) {
        ++served[0];
        RETURN number;
      });
      while (served[0] < 30) WAIT(sleep_for(20us));
      for (bool detached = false; !detached;) {
        try {
          end.detach();
          detached = true;
        } catch (const std::logic_error&) {  // a message is being handled just now
        }
        if (!detached) WAIT(yield());
      }
      carrier.send(std::move(end));
    });
    g[(last + 1) % g.size()].spawn(OWNER(&served, end = std::move(to)) {
      end.on(HANDLER(void, carried arrived, &served) {
        arrived.on(HANDLER(int, int number, &served) {
          ++served[1];
          RETURN number;
        });
        WAIT(arrived.finished());
      });
      WAIT(end.finished());
    });
    g.run();
    REQUIRE(sum == 4950);
    REQUIRE(served[0] >= 30);
    REQUIRE(served[0] + served[1] == 100);
  });
}

TEST_CASE(KIND "an end is used in one group") {
  parallel::groups g({.count = 2});
  auto ends = make_link<int, int>("shared");
  std::string what;
  parallel::semaphore used(0);
  g[0].spawn(BODY(&) {
    ends.first.send(1);
    used.V();
    WAIT(yield());
  });
  g[1].spawn(BODY(&) {
    WAIT(used.P());
    try {
      ends.first.send(2);
    } catch (const std::logic_error& error) {
      what = error.what();
    }
  });
  g.run();
  CHECK(what ==
        "an end of link \"shared\" is used in another group than before; detach() it there first");
  CHECK_THROWS_AS(ends.second.send(1), std::logic_error);  // outside of strands
}

// A handler's reply and its end belong to the link end's group, so the handler must stay there.
TEST_CASE(KIND "a handler cannot leave its end's group") {
  parallel::groups g({.count = 2});
  auto [client, server] = make_link<int, int>();
  std::vector<std::string> reasons;
  g[0].spawn(OWNER(&, end = std::move(client)) {
    for (int i = 0; i < 20; ++i) {
      try {
        static_cast<void>(WAIT(end.call(i)));
      } catch (const handler_failed& failed) {
        reasons.push_back(failed.type() + ": " + failed.what());
      }
    }
  });
  g[1].spawn(OWNER(&, end = std::move(server)) {
    end.on(HANDLER(int, int number, &g) {
      WAIT(parallel::move_to(g[0]));
      RETURN number;
    });
    WAIT(end.finished());
  });
  g.run();
  REQUIRE(reasons.size() == 20);
  CHECK(reasons[0].starts_with("std::logic_error: strand 2 cannot move to another group"));
}

TEST_CASE(KIND "a call is limited in time, and cancelled") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<bool, int>();
    parallel::semaphore gate(0, "gate");
    std::vector<std::string> got;
    here.spawn(OWNER(&, end = std::move(client)) {
      for (int i = 0; i < 8; ++i) {
        const bool waits = i % 2 == 0;
        const std::optional<int> reply = WAIT(within(waits ? duration(1ms) : 1h, end.call(waits)));
        got.push_back(reply ? std::to_string(*reply) : "out of time");
      }
      scheduler& own = *detail::current_scheduler;
      const strand<> late = own.spawn(BODY(&) {
        WAIT(end.call(true));
        FAIL("it was cancelled");
      });
      WAIT(sleep_for(1ms));
      late.cancel();
      try {
        WAIT(late.join());
      } catch (const strand_cancelled&) {
        got.push_back("cancelled");
      }
      got.push_back(std::to_string(WAIT(end.call(false))));
      for (int i = 0; i < 5; ++i) gate.V();
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      end.on(HANDLER(int, bool waits, &) {
        if (waits) WAIT(gate.P());
        RETURN 7;
      });
      WAIT(end.finished());
    });
    run();
    CHECK(got == std::vector<std::string>{"out of time", "7", "out of time", "7", "out of time",
                                          "7", "out of time", "7", "cancelled", "7"});
  });
}
