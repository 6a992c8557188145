// Included once for each kind of strand. Every promise is kept in any order of strands, so each
// test runs under many random ones.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "heddle/coop/sync/barrier.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/condition.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/rw_lock.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "strand_kinds.hpp"

namespace {

const int sync_seeds = seeds(2000, 100);

}  // namespace

TEST_CASE(KIND "a semaphore admits as many as it has permits, and counts its P operations") {
  int most = 0;
  under_policies(sync_seeds, [&most](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::semaphore places(2);
    int inside = 0;
    for (int i = 0; i < 6; ++i) {
      s.spawn(BODY(&) {
        WAIT(places.P());
        most = std::max(most, ++inside);
        WAIT(yield());
        --inside;
        places.V();
      });
    }
    s.run();
    REQUIRE(most <= 2);
    REQUIRE(places.permits() == 2);
    REQUIRE(places.p_count() == 6);
    REQUIRE(places.blocked_p_count() <= 4);
  });
  CHECK(most == 2);
  heddle::coop::semaphore one(1);
  CHECK(one.try_P());
  CHECK_FALSE(one.try_P());
  one.V();
  CHECK(one.permits() == 1);
}

TEST_CASE(KIND "permits go to those who wait in the order in which they came") {
  scheduler s;
  heddle::coop::semaphore gate(0);
  std::string trace;
  for (const char letter : {'a', 'b', 'c'}) {
    s.spawn(BODY(&, letter) {
      WAIT(gate.P());
      trace += letter;
    });
  }
  s.spawn(BODY(&) {
    WAIT(yield());
    for (int i = 0; i < 3; ++i) gate.V();
    CHECK_FALSE(gate.try_P());  // all three are taken, though nobody has run yet
  });
  s.run();
  CHECK(trace == "abc");
  CHECK(gate.blocked_p_count() == 3);
}

TEST_CASE(KIND "no permit is lost or made by timeouts and cancellations") {
  under_policies(sync_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::semaphore permits(1);
    std::vector<strand<>> all;
    int granted = 0;
    int timed_out = 0;
    for (int i = 0; i < 8; ++i) {
      all.push_back(s.spawn(BODY(&, i) {
        WAIT(sleep_for(i % 3 * 1ms));
        if (!WAIT(within(2ms, permits.P()))) {
          ++timed_out;
        } else {
          struct permit {
            heddle::coop::semaphore& permits;
            ~permit() { permits.V(); }
          };
          const permit held{permits};
          ++granted;
          WAIT(sleep_for(1ms));
        }
      }));
    }
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      all[3].cancel();
      WAIT(yield());
      all[4].cancel();
    });
    s.run();
    REQUIRE(permits.permits() == 1);
    REQUIRE(granted >= 1);
    REQUIRE(granted + timed_out <= 8);
    REQUIRE(granted + timed_out >= 6);
  });
}

TEST_CASE(KIND "a mutex keeps what is read and written across waits whole") {
  under_policies(sync_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::mutex lock("account");
    int account = 0;
    for (int i = 0; i < 5; ++i) {
      s.spawn(BODY(&) {
        const auto guard = WAIT(lock.scoped_lock());
        const int read = account;
        WAIT(yield());
        account = read + 1;
      });
    }
    s.run();
    REQUIRE(account == 5);
    REQUIRE_FALSE(lock.locked());
  });
}

TEST_CASE(KIND "a deadlock over two mutexes is reported by their names") {
  heddle::coop::mutex left("left");
  heddle::coop::mutex right("right");
  scheduler s;  // destroys strands that hold both
  s.spawn(
      BODY(&) {
        const auto first = WAIT(left.scoped_lock());
        WAIT(yield());
        const auto second = WAIT(right.scoped_lock());
      },
      "Plato");
  s.spawn(BODY(&) {
    const auto first = WAIT(right.scoped_lock());
    WAIT(yield());
    const auto second = WAIT(left.scoped_lock());
  });
  CHECK_THROWS_WITH_AS(s.run(),
                       "deadlock: nothing can run any more, but 2 strands have not ended\n"
                       "  strand 1 \"Plato\" waits for mutex \"right\"\n"
                       "  strand 2 waits for mutex \"left\"\n",
                       deadlock);
}

TEST_CASE(KIND "a monitor with conditions is a bounded buffer") {
  under_policies(sync_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::mutex lock;
    heddle::coop::condition not_full;
    heddle::coop::condition not_empty;
    std::deque<int> buffer;
    std::vector<int> taken(12, 0);
    for (int producer = 0; producer < 3; ++producer) {
      s.spawn(BODY(&, producer) {
        for (int i = 0; i < 4; ++i) {
          const auto guard = WAIT(lock.scoped_lock());
          while (buffer.size() == 2) WAIT(not_full.wait(lock));
          buffer.push_back(4 * producer + i);
          not_empty.notify_one();
        }
      });
    }
    for (int consumer = 0; consumer < 2; ++consumer) {
      s.spawn(BODY(&) {
        for (int i = 0; i < 6; ++i) {
          const auto guard = WAIT(lock.scoped_lock());
          while (buffer.empty()) WAIT(not_empty.wait(lock));
          ++taken[static_cast<std::size_t>(buffer.front())];
          buffer.pop_front();
          not_full.notify_one();
        }
      });
    }
    s.run();
    REQUIRE(taken == std::vector(12, 1));
  });
}

TEST_CASE(KIND "the scheduler may be destroyed while a strand with a guard waits for a condition") {
  for (const bool waits_first : {false, true}) {
    heddle::coop::mutex m("m");
    condition changed("changed");
    semaphore never(0, "never");
    {
      scheduler s;
      const auto waits = BODY(&) {
        const auto guard = WAIT(m.scoped_lock());
        WAIT(changed.wait(m));
      };
      const auto holds = BODY(&) {
        WAIT(yield());
        const auto guard = WAIT(m.scoped_lock());
        WAIT(never.P());
      };
      if (waits_first) s.spawn(waits);
      s.spawn(holds);
      if (!waits_first) s.spawn(waits);
      CHECK_THROWS_AS(s.run(), deadlock);
      CHECK(m.locked());
    }
    CHECK_FALSE(m.locked());
  }
}

TEST_CASE(KIND "a condition's wait has the mutex again after a timeout and a cancellation") {
  under_policies(sync_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::mutex lock;
    heddle::coop::condition never;
    bool held_by_third = false;
    int unwound = 0;
    auto limited = s.spawn(BODY(&) {
      const auto guard = WAIT(lock.scoped_lock());
      REQUIRE_FALSE(WAIT(within(2ms, never.wait(lock))));
      REQUIRE(lock.locked());
      REQUIRE_FALSE(held_by_third);
    });
    auto victim = s.spawn(BODY(&) {
      struct check {
        heddle::coop::mutex& checked;
        bool& held_by_another;
        int& count;
        ~check() {
          if (checked.locked() && !held_by_another) ++count;
        }
      };
      const auto guard = WAIT(lock.scoped_lock());
      const check unwinding{lock, held_by_third, unwound};
      WAIT(never.wait(lock));
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1ms));
      const auto guard = WAIT(lock.scoped_lock());
      held_by_third = true;
      victim.cancel();
      WAIT(sleep_for(5ms));  // past the limit: both want the mutex, and wait for it
      REQUIRE(unwound == 0);
      REQUIRE_FALSE(limited.done());
      held_by_third = false;
    });
    s.run();
    REQUIRE(unwound == 1);
    REQUIRE_FALSE(lock.locked());
  });
}

TEST_CASE(KIND "notify_all ends all waits, notify_one the longest") {
  scheduler s;
  heddle::coop::mutex lock;
  heddle::coop::condition changed;
  std::string trace;
  for (const char letter : {'a', 'b', 'c'}) {
    s.spawn(BODY(&, letter) {
      const auto guard = WAIT(lock.scoped_lock());
      WAIT(changed.wait(lock));
      trace += letter;
    });
  }
  s.spawn(BODY(&) {
    WAIT(yield());
    changed.notify_one();
    WAIT(yield());
    WAIT(yield());
    trace += '|';
    changed.notify_all();
  });
  s.run();
  CHECK(trace == "a|bc");
}

TEST_CASE(KIND "nobody passes a barrier before all have come, round after round") {
  under_policies(sync_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::barrier all(4);
    std::vector<int> round(4, 0);
    int last = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      s.spawn(BODY(&, i) {
        for (int r = 0; r < 5; ++r) {
          ++round[i];
          if (WAIT(all.arrive_and_wait())) ++last;
          for (const int other : round) REQUIRE((other == r + 1 || other == r + 2));
        }
      });
    }
    s.run();
    REQUIRE(last == 5);
  });
}

TEST_CASE(KIND "an arrival that timed out does not count") {
  scheduler s({.clock = clock_policy::simulated});
  heddle::coop::barrier both(2);
  std::string trace;
  s.spawn(BODY(&) {
    if (!WAIT(within(1s, both.arrive_and_wait()))) trace += 't';
  });
  s.spawn(BODY(&) {
    WAIT(sleep_for(2s));
    trace += WAIT(both.arrive_and_wait()) ? 'L' : 'a';
  });
  s.spawn(BODY(&) {
    WAIT(sleep_for(3s));
    trace += WAIT(both.arrive_and_wait()) ? 'L' : 'a';
  });
  s.run();
  CHECK(trace == "tLa");
}

TEST_CASE(KIND "a reader-writer lock never has a writer beside another, and readers together") {
  int most_readers = 0;
  under_policies(sync_seeds, [&most_readers](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::rw_lock lock;
    int readers = 0;
    int writers = 0;
    for (int i = 0; i < 9; ++i) {
      s.spawn(BODY(&, i) {
        for (int round = 0; round < 2; ++round) {
          if (i % 3 == 0) {
            const auto guard = WAIT(lock.scoped_lock());
            ++writers;
            REQUIRE(writers == 1);
            REQUIRE(readers == 0);
            WAIT(yield());
            --writers;
          } else if (const auto guard = WAIT(
                         within(i % 3 == 1 ? duration::max() : 1ms, lock.scoped_lock_shared()))) {
            most_readers = std::max(most_readers, ++readers);
            REQUIRE(writers == 0);
            WAIT(yield());
            --readers;
          }
          WAIT(sleep_for(i * 1ms));
        }
      });
    }
    s.run();
    REQUIRE(lock.readers() == 0);
    REQUIRE_FALSE(lock.writing());
  });
  CHECK(most_readers > 1);
}

TEST_CASE(KIND "a reader does not pass a waiting writer, unless the writer gives up") {
  scheduler s({.clock = clock_policy::simulated});
  heddle::coop::rw_lock lock;
  std::string trace;
  s.spawn(BODY(&) {
    auto guard = WAIT(lock.scoped_lock_shared());
    WAIT(sleep_for(10s));
    guard.unlock();
    trace += 'r';
  });
  s.spawn(BODY(&) {
    if (!WAIT(within(2s, lock.scoped_lock()))) trace += 'w';
  });
  s.spawn(BODY(&) {
    WAIT(sleep_for(1s));
    const auto guard = WAIT(lock.scoped_lock_shared());
    CHECK(s.now() == time_point{} + 2s);
    trace += 'R';
  });
  s.run();
  CHECK(trace == "Rwr");
}

TEST_CASE(KIND "a channel hands on every value once, whatever its capacity, then ends") {
  for (const std::size_t capacity : {0, 1, 3}) {
    under_policies(sync_seeds / 2, [capacity](const scheduler_options& options) {
      scheduler s(options);
      channel<std::unique_ptr<int>> values(capacity);
      std::vector<int> seen(12, 0);
      int producing = 3;
      for (int producer = 0; producer < 3; ++producer) {
        s.spawn(BODY(&, producer) {
          for (int i = 0; i < 4; ++i) {
            REQUIRE(WAIT(values.push(std::make_unique<int>(4 * producer + i))));
            REQUIRE(values.size() <= capacity);
          }
          if (--producing == 0) values.close();
        });
      }
      for (int consumer = 0; consumer < 2; ++consumer) {
        s.spawn(BODY(&) {
          int last[3] = {-1, -1, -1};
          for (;;) {
            auto value = WAIT(values.pop());
            if (!value) break;
            ++seen[static_cast<std::size_t>(**value)];
            REQUIRE(last[**value / 4] < **value);  // in order for each producer
            last[**value / 4] = **value;
          }
        });
      }
      s.run();
      REQUIRE(seen == std::vector(12, 1));
    });
  }
}

TEST_CASE(KIND "closing a channel ends waiting pushes and pops, a limit keeps the value back") {
  scheduler s({.clock = clock_policy::simulated});
  channel<int> full(1);
  channel<int> empty(1);
  std::string trace;
  s.spawn(BODY(&) {
    trace += WAIT(full.push(1)) ? '1' : '-';
    if (!WAIT(within(1s, full.push(2)))) trace += 't';
    trace += WAIT(full.push(3)) ? '3' : 'c';
    trace += WAIT(full.push(4)) ? '4' : 'c';
  });
  s.spawn(BODY(&) { trace += WAIT(empty.pop()) ? 'v' : 'e'; });
  s.spawn(BODY(&) {
    WAIT(sleep_for(2s));
    full.close();
    empty.close();
    WAIT(sleep_for(1s));
    trace += WAIT(full.pop()) == 1 ? 'p' : '?';
    trace += WAIT(full.pop()).has_value() ? '?' : '.';
  });
  s.run();
  CHECK(trace == "1tccep.");
}

TEST_CASE(KIND "a semaphore's operations have everyday names, too") {
  scheduler s;
  heddle::coop::semaphore permits(0);
  std::string trace;
  s.spawn(BODY(&) {
    WAIT(permits.acquire());
    trace += 'a';
    CHECK_FALSE(permits.try_acquire());
  });
  s.spawn(BODY(&) {
    trace += 'r';
    permits.release();
    WAIT(yield());
  });
  s.run();
  CHECK(trace == "ra");
  permits.release();
  CHECK(permits.try_acquire());
  CHECK(permits.p_count() == 3);
}

TEST_CASE(KIND "a permit that is kept by a guard is given back once, also by a strand that ends") {
  scheduler s;
  heddle::coop::semaphore slots(2);
  s.spawn(BODY(&) {
    auto first = WAIT(slots.scoped_acquire());
    auto moved = std::move(first);
    {
      const auto second = WAIT(within(1h, slots.scoped_acquire()));
      CHECK(second.has_value());
      CHECK(slots.permits() == 0);
      CHECK_FALSE(WAIT(within(1ms, slots.scoped_acquire())));
    }
    CHECK(slots.permits() == 1);
    first.give_back();
    CHECK(slots.permits() == 1);
    moved.give_back();
    moved.give_back();
    CHECK(slots.permits() == 2);
  });
  s.run();
  const auto cancelled_in_between = s.spawn(BODY(&) {
    const auto slot = WAIT(slots.scoped_acquire());
    WAIT(sleep_for(1h));
  });
  s.spawn(BODY(&) {
    WAIT(yield());
    CHECK(slots.permits() == 1);
    cancelled_in_between.cancel();
  });
  s.run();
  CHECK(cancelled_in_between.done());
  CHECK(slots.permits() == 2);
}
