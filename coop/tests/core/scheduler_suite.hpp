// Included once for each kind of strand.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/coop/sync/semaphore.hpp"
#include "strand_kinds.hpp"

namespace {

constexpr scheduler_options virtual_time{.clock = clock_policy::simulated};

}  // namespace

TEST_CASE(KIND "strands that yield take turns in the order they were spawned") {
  scheduler s;
  std::string trace;
  for (const char letter : {'a', 'b', 'c'}) {
    s.spawn(BODY(&trace, letter) {
      for (int turn = 0; turn < 3; ++turn) {
        trace += letter;
        WAIT(yield());
      }
    });
  }
  s.run();
  CHECK(trace == "abcabcabc");
  CHECK(s.alive() == 0);
}

TEST_CASE(KIND "a named yield runs the named strand next, and says if it could not") {
  scheduler s;
  std::string trace;
  std::vector<bool> direct;
  const auto ended = s.spawn(BODY(&trace) {
    trace += '-';
    WAIT(yield());
  });
  s.run();
  s.spawn(BODY(&) {
    trace += 'a';
    WAIT(yield());  // so that all three have started
    const auto last = s.spawn(BODY(&trace) {
      trace += 'n';
      WAIT(yield());
      trace += 'm';
    });
    direct.push_back(WAIT(yield_to(last)));
    trace += 'A';
    direct.push_back(WAIT(yield_to(ended)));
    trace += 'E';
  });
  for (const char letter : {'b', 'c'}) {
    s.spawn(BODY(&trace, letter) {
      for (int turn = 0; turn < 3; ++turn) {
        trace += letter;
        WAIT(yield());
      }
    });
  }
  s.run();
  CHECK(trace == "-abcnbcAmbcE");
  CHECK(direct == std::vector{true, false});
}

TEST_CASE(KIND "join hands on a result that can only be moved, and a reference") {
  scheduler s;
  int value = 1;
  bool ran = false;
  auto owner = s.spawn(BODY_OF(std::unique_ptr<int>) {
    WAIT(yield());
    RETURN std::make_unique<int>(42);
  });
  auto reference = s.spawn(BODY_OF(int&, &value) {
    WAIT(yield());
    RETURN value;
  });
  s.spawn(BODY(&) {
    CHECK(*WAIT(owner.join()) == 42);
    CHECK(&WAIT(reference.join()) == &value);
    ran = true;
  });
  s.run();
  CHECK(ran);
}

TEST_CASE(KIND "join throws what the strand threw") {
  scheduler s;
  std::string seen;
  auto fails = s.spawn(BODY() {
    WAIT(yield());
    throw std::runtime_error("on purpose");
  });
  s.spawn(BODY(&) {
    try {
      WAIT(fails.join());
    } catch (const std::runtime_error& error) {
      seen = error.what();
    }
  });
  s.run();
  CHECK(seen == "on purpose");
}

TEST_CASE(KIND "what a strand throws that nobody holds leaves run(), after the others ended") {
  scheduler s;
  bool other_ended = false;
  s.spawn(BODY() {
    WAIT(yield());
    throw std::runtime_error("nobody joins");
  });
  s.spawn(BODY(&other_ended) {
    for (int turn = 0; turn < 5; ++turn) WAIT(yield());
    other_ended = true;
  });
  CHECK_THROWS_WITH_AS(s.run(), "nobody joins", std::runtime_error);
  CHECK(other_ended);
  CHECK_NOTHROW(s.run());
}

TEST_CASE(KIND "virtual time jumps to the next timer, and equal times keep their order") {
  scheduler s(virtual_time);
  std::string trace;
  const auto sleeper = [&](char letter, duration length) {
    s.spawn(BODY(&trace, letter, length) {
      WAIT(sleep_for(length));
      trace += letter;
    });
  };
  sleeper('c', 3h);
  sleeper('a', 1h);
  sleeper('d', 3h);
  sleeper('b', 2h);
  s.spawn(BODY(&) {
    WAIT(sleep_until(time_point{} + 150min));
    trace += '!';
  });
  s.run();
  CHECK(trace == "ab!cd");
  CHECK(s.now() == time_point{} + 3h);
}

TEST_CASE(KIND "a real sleep is not shorter than asked, beside a strand that yields") {
  scheduler s;
  bool over = false;
  const auto began = std::chrono::steady_clock::now();
  s.spawn(BODY(&over) {
    WAIT(sleep_for(5ms));
    over = true;
  });
  s.spawn(BODY(&over) {
    while (!over) WAIT(yield());
  });
  s.run();
  CHECK(std::chrono::steady_clock::now() - began >= 5ms);
}

TEST_CASE(KIND "a deadlock names each strand and what it waits for") {
  scheduler s;
  int destroyed = 0;
  std::string report;
  {
    std::vector<strand<>> strands;
    scheduler inner;
    for (int i = 0; i < 2; ++i) {
      strands.push_back(inner.spawn(
          BODY(&, i) {
            const exit_counter guard{destroyed};
            WAIT(yield());
            WAIT(strands[1 - i].join());
          },
          i == 0 ? "left" : "right"));
    }
    try {
      inner.run();
      FAIL("ended");
    } catch (const deadlock& error) {
      report = error.what();
    }
    CHECK(destroyed == 0);
  }
  CHECK(report ==
        "deadlock: nothing can run any more, but 2 strands have not ended\n"
        "  strand 1 \"left\" waits for the end of strand \"right\"\n"
        "  strand 2 \"right\" waits for the end of strand \"left\"\n");
  CHECK(destroyed == 2);
}

TEST_CASE(KIND "a deadlock says what is waited for that has no name") {
  scheduler s;
  heddle::coop::semaphore permits(0);
  const strand<> never = s.spawn(BODY(&permits) { WAIT(permits.P()); });
  s.spawn(BODY(&never) { WAIT(never.join()); });
  CHECK_THROWS_WITH_AS(s.run(),
                       "deadlock: nothing can run any more, but 2 strands have not ended\n"
                       "  strand 1 waits for semaphore (unnamed)\n"
                       "  strand 2 waits for the end of strand (unnamed)\n",
                       deadlock);
}

TEST_CASE(KIND "a random policy is the same for the same seed and differs between seeds") {
  const auto order = [](std::uint64_t seed) {
    scheduler s({.random_seed = seed});
    std::string trace;
    for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'}) {
      s.spawn(BODY(&trace, letter) {
        for (int turn = 0; turn < 4; ++turn) {
          trace += letter;
          WAIT(yield());
        }
      });
    }
    s.run();
    return trace;
  };
  CHECK(order(1) == order(1));
  CHECK(order(1) != order(2));
}

TEST_CASE(KIND "a random policy finds a race that the fixed order never meets") {
  const auto total = [](const scheduler_options& options) {
    scheduler s(options);
    int account = 0;
    for (int i = 0; i < 2; ++i) {
      s.spawn(BODY(&account, i) {
        for (int turn = 0; turn < i; ++turn) WAIT(yield());  // the second starts later
        const int read = account;
        if (i == 0) WAIT(yield());
        account = read + 1;
        WAIT(yield());
      });
    }
    s.run();
    return account;
  };
  CHECK(total({}) == 2);
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    if (total({.random_seed = seed}) == 1) ++lost;
  }
  CHECK(lost > 0);
  CHECK(lost < 100);
}

TEST_CASE(KIND "destroying the scheduler destroys the suspended, the youngest first") {
  std::vector<int> order;
  struct note {
    std::vector<int>& into;
    int value;
    ~note() { into.push_back(value); }
  };
  bool ran = false;
  std::vector<strand<>> all;  // handles may outlive the scheduler
  {
    scheduler s;
    for (int i = 0; i < 3; ++i) {
      all.push_back(s.spawn(BODY(&, i) {
        const note guard{order, i};
        WAIT(yield());
        WAIT(all[(i + 1) % 3].join());
      }));
    }
    CHECK_THROWS_AS(s.run(), deadlock);
    s.spawn(BODY(&ran) {
      ran = true;
      WAIT(yield());
    });
  }
  CHECK(order == std::vector{2, 1, 0});
  CHECK(all[0].done());
  CHECK_FALSE(ran);
}

TEST_CASE(KIND "a cancelled wait throws, destructors run, and may themselves wait") {
  under_policies(20, [](const scheduler_options& options) {
    scheduler s(options);
    int destroyed = 0;
    bool waited_again = false;
    bool went_on = false;
    auto victim = s.spawn(BODY(&) {
      const exit_counter guard{destroyed};
      bool told = false;
      try {
        WAIT(sleep_for(1000h));
        went_on = true;
      } catch (const cancelled&) {
        told = true;
      }
      if (told) {
        WAIT(sleep_for(1s));
        waited_again = true;
      }
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1s));
      victim.cancel();
      WAIT(victim.join());
      CHECK(s.now() == time_point{} + 2s);
    });
    s.run();
    CHECK(destroyed == 1);
    CHECK(waited_again);
    CHECK_FALSE(went_on);
  });
}

TEST_CASE(KIND "joining a cancelled strand throws, one that never ran runs nothing") {
  scheduler s;
  bool ran = false;
  bool refused = false;
  auto unborn = s.spawn(
      BODY(&ran) {
        ran = true;
        WAIT(yield());
      },
      "unborn");
  unborn.cancel();
  s.spawn(BODY(&) {
    try {
      WAIT(unborn.join());
    } catch (const strand_cancelled& error) {
      refused = std::string(error.what()).find("unborn") != std::string::npos;
    }
  });
  s.run();
  CHECK_FALSE(ran);
  CHECK(refused);
}

TEST_CASE(KIND "the longest duration never ends, whatever the time is") {
  scheduler s(virtual_time);
  semaphore permit(0, "late");
  int given = 0;
  auto sleeper = s.spawn(BODY() { WAIT(sleep_for(duration::max())); });
  s.spawn(BODY(&) {
    WAIT(sleep_for(1s));  // at 0 it is no overflow
    s.spawn(BODY(&) { given += WAIT(within(duration::max(), permit.P())); });
    auto other = s.spawn(BODY() { WAIT(sleep_for(duration::max())); });
    WAIT(sleep_for(1h));
    permit.V();
    CHECK_FALSE(other.done());
    other.cancel();
    sleeper.cancel();
  });
  s.run();
  CHECK(given == 1);
  CHECK(s.now() == time_point{} + 1h + 1s);

  s.spawn(
      BODY(&) { given += WAIT(within(duration::max(), permit.P())); }, "limitless");
  CHECK_THROWS_AS(s.run(), deadlock);
  CHECK(s.now() == time_point{} + 1h + 1s);
}

TEST_CASE(KIND "a wait within a limit is empty after it, and has the result before it") {
  scheduler s(virtual_time);
  std::vector<int> seen;
  auto slow = s.spawn(BODY_OF(int) {
    WAIT(sleep_for(10s));
    RETURN 7;
  });
  s.spawn(BODY(&) {
    seen.push_back(WAIT(within(3s, slow.join())).value_or(-1));
    CHECK(s.now() == time_point{} + 3s);
    seen.push_back(WAIT(within(30s, slow.join())).value_or(-1));
    CHECK(s.now() == time_point{} + 10s);
  });
  s.run();
  CHECK(seen == std::vector{-1, 7});
  CHECK(s.now() == time_point{} + 10s);  // the second limit's timer is gone
}

TEST_CASE(KIND "what a strand waits for may go before the strand") {
  struct end_count {
    int& ended;
    ~end_count() { ++ended; }
  };
  int ended = 0;
  {
    scheduler s(virtual_time);
    auto permit = std::make_unique<semaphore>(0, "short-lived");
    const auto wait = BODY(&) {
      const end_count counted{ended};
      WAIT(permit->P());
    };
    auto asked = s.spawn(wait, "cancelled");
    s.spawn(BODY(&) { CHECK_FALSE(WAIT(within(2s, permit->P()))); });
    s.spawn(wait, "destroyed");
    s.spawn(BODY(&) {
      WAIT(sleep_for(1s));
      permit.reset();
      asked.cancel();
    });
    CHECK_THROWS_WITH_AS(s.run(),
                         "deadlock: nothing can run any more, but 1 strand has not ended\n"
                         "  strand 3 \"destroyed\" waits for something that is gone\n",
                         deadlock);
    CHECK(ended == 1);
  }
  CHECK(ended == 2);
}

TEST_CASE(KIND "many strands come and go in any order") {
  under_policies(20, [](const scheduler_options& options) {
    scheduler s(options);
    long sum = 0;
    for (int i = 0; i < 200; ++i) {
      s.spawn(BODY(&, i) {
        for (int turn = 0; turn < i % 7; ++turn) WAIT(yield());
        auto child = s.spawn(BODY_OF(int, i) {
          if (i % 3 == 0) WAIT(sleep_for(i * 1us));
          WAIT(yield());
          RETURN i;
        });
        sum += WAIT(child.join());
      });
    }
    s.run();
    CHECK(sum == 199 * 100);
  });
}
