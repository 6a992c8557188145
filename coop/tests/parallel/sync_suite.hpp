// Included once for each kind of strand.
#include <sched.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "heddle/coop/parallel/barrier.hpp"
#include "heddle/coop/parallel/channel.hpp"
#include "heddle/coop/parallel/mutex.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/parallel/watched.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "a mutex of groups keeps what it protects whole") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::mutex lock("account");
    long account = 0;
    std::atomic<int> timeouts{0};
    constexpr int changes = 250;
    for (std::size_t i = 0; i < 3 * g.size(); ++i) {
      g[i % g.size()].spawn(BODY(&, i) {
        for (int k = 0; k < changes; ++k) {
          const auto limit = std::chrono::microseconds(k % 13);
          const auto guard =
              WAIT(within(k % 11 == 5 ? limit : duration::max(), lock.scoped_lock()));
          if (!guard) {
            ++timeouts;
            continue;
          }
          const long read = account;
          if ((k + static_cast<int>(i)) % 7 == 0) WAIT(yield());
          account = read + 1;
        }
      });
    }
    g.run();
    REQUIRE(account == static_cast<long>(3 * g.size()) * changes - timeouts);
    REQUIRE(lock.try_lock());
    lock.unlock();
  });
}

TEST_CASE(KIND "a channel of groups hands on each value once, in the order of its pushes") {
  stress(6, [](int round) {
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{16}}) {
      parallel::groups g(varied(round));
      struct item {
        std::size_t from;
        int number;
      };
      parallel::channel<std::unique_ptr<item>> values(capacity, "values");
      constexpr int each = 300;
      const std::size_t producers = g.size();
      std::atomic<std::size_t> open{producers};
      std::vector<std::vector<item>> popped(g.size());
      for (std::size_t i = 0; i < producers; ++i) {
        g[i].spawn(BODY(&, i) {
          for (int k = 0; k < each; ++k) {
            CHECK(WAIT(values.push(std::make_unique<item>(item{i, k}))));
            if (k % 50 == 0) WAIT(yield());
          }
          if (--open == 0) values.close();
        });
        g[i].spawn(BODY(&, i) {
          while (const auto value = WAIT(values.pop())) popped[i].push_back(**value);
        });
      }
      g.run();
      std::vector<int> count(producers);
      for (const auto& of_one : popped) {
        std::vector<int> last(producers, -1);
        for (const item& each_item : of_one) {
          REQUIRE(each_item.number > last[each_item.from]);
          last[each_item.from] = each_item.number;
          ++count[each_item.from];
        }
      }
      for (const int of_one : count) REQUIRE(of_one == each);
      REQUIRE(values.closed());
      REQUIRE(values.size() == 0);
    }
  });
}

TEST_CASE(KIND "no value of a channel of groups is lost or doubled by timeouts") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::channel<int> values(1);
    std::vector<int> sent;
    std::vector<int> got;
    bool over = false;
    g[0].spawn(BODY(&) {
      for (int k = 0; k < 400; ++k) {
        const auto taken = WAIT(within(std::chrono::microseconds(k % 9), values.push(k)));
        if (taken && *taken) sent.push_back(k);
        if (k % 40 == 0) WAIT(sleep_for(20us));
      }
      values.close();
    });
    g[1].spawn(BODY(&) {
      while (!over) {
        const auto value = WAIT(within(std::chrono::microseconds(got.size() % 7), values.pop()));
        if (!value) continue;
        over = !value->has_value();
        if (!over) got.push_back(**value);
      }
    });
    g.run();
    REQUIRE(got == sent);
  });
}

// Under way: granted, and not delivered yet. The busy strand sees to it that it is.
TEST_CASE(KIND "a cancellation ends a wait for a predicate also while a change is under way") {
  parallel::groups g({.count = 2});
  parallel::watched<int> level(0, "level");
  parallel::semaphore asked(0);
  std::atomic<bool> changed{false};
  int ended = 0;
  g[0].spawn(BODY(&) {
    const auto waiting = g[0].scheduler().spawn(
        BODY(&) {
          const exit_counter note{ended};
          WAIT(parallel::wait_until([&] { return level > 1; }, level));
        },
        "waiting");
    WAIT(yield());
    asked.V();
    while (!changed) sched_yield();
    waiting.cancel();
    CHECK(ended == 0);
  });
  g[1].spawn(BODY(&) {
    WAIT(asked.P());
    ++level;
    changed = true;
  });
  CHECK_NOTHROW(g.run());
  CHECK(ended == 1);
}

TEST_CASE(KIND "a limit ends a wait for a predicate, however often its variables change") {
  stress(4, [](int round) {
    parallel::groups g(varied(round));
    parallel::watched<int> level(0, "level");
    std::atomic<bool> over{false};
    int held = 0;
    g[0].spawn(BODY(&) {
      for (int k = 0; k < 300; ++k) {
        const bool holds = WAIT(within(std::chrono::microseconds(k % 30),
                                       parallel::wait_until([&] { return level < 0; }, level)));
        held += holds ? 1 : 0;
      }
      over = true;
    });
    g[1].spawn(BODY(&) {
      for (int k = 0; k < 2'000'000 && !over; ++k) {
        ++level;
        if (k % 64 == 0) WAIT(yield());
      }
    });
    g.run();
    REQUIRE(over);
    REQUIRE(held == 0);
  });
}

// One who has waited in vain, so that a V and an unlock() look for those who wait, and then is
// faster than these. What they write afterwards spoils the memory; ThreadSanitizer sees it in any
// case.
TEST_CASE(KIND "what can be taken may be destroyed, though whoever gave it has not returned") {
  stress(2, [](int round) {
    parallel::groups g(varied(round));
    struct used {
      parallel::semaphore permit{0, "permit"};
      parallel::mutex lock{"lock"};
    };
    alignas(used) unsigned char memory[sizeof(used)] = {};
    std::atomic<used*> made{nullptr};
    std::atomic<int> in_lock{0};  // the other group has locked it
    std::atomic<int> in_vain{0};
    constexpr int rounds = 500;
    g[0].spawn(BODY(&) {
      for (int k = 0; k < rounds; ++k) {
        auto* const own = new (memory) used;
        made = own;
        while (in_lock != k + 1) sched_yield();
        CHECK(!WAIT(within(1us, own->lock.scoped_lock())));
        ++in_vain;
        while (!own->lock.try_lock()) sched_yield();
        CHECK(!WAIT(within(1us, own->permit.P())));
        ++in_vain;
        while (!own->permit.try_P()) sched_yield();
        own->~used();
        std::fill(std::begin(memory), std::end(memory), static_cast<unsigned char>(0xa5));
        for (volatile int turn = 0; turn < 100;) turn = turn + 1;
        for (const unsigned char each : memory) REQUIRE(each == 0xa5);
      }
    });
    g[1].spawn(BODY(&) {
      for (int k = 0; k < rounds; ++k) {
        while (made == nullptr) sched_yield();
        used& other = *made.exchange(nullptr);
        REQUIRE(other.lock.try_lock());
        ++in_lock;
        while (in_vain != 2 * k + 1) sched_yield();
        other.lock.unlock();
        while (in_vain != 2 * k + 2) sched_yield();
        other.permit.V();
      }
      RETURN;
    });
    g.run();
  });
}

TEST_CASE(KIND "a push or a pop that waits ends when a channel of groups is closed") {
  parallel::groups g({.count = 2});
  parallel::channel<int> full(0);
  parallel::channel<int> empty(4);
  int ended = 0;
  g[0].spawn(BODY(&) {
    CHECK_FALSE(WAIT(full.push(1)));
    ++ended;
  });
  g[0].spawn(BODY(&) {
    CHECK_FALSE(WAIT(empty.pop()).has_value());
    ++ended;
  });
  g[1].spawn(BODY(&) {
    WAIT(sleep_for(100us));
    full.close();
    empty.close();
    CHECK_FALSE(WAIT(full.push(2)));
  });
  g.run();
  CHECK(ended == 2);
}

// All strands may read after a phase what any strand wrote before its end, without further
// synchronisation.
TEST_CASE(KIND "a barrier of groups lets nobody through before all have come") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    const std::size_t in_each = 1 + static_cast<std::size_t>(round % 3);
    const std::size_t strands = in_each * g.size();
    parallel::barrier line(g, in_each, "line");
    constexpr std::size_t phases = 200;
    std::vector<std::array<std::size_t, 2>> at(strands);
    std::atomic<std::size_t> last_ones{0};
    for (std::size_t i = 0; i < strands; ++i) {
      g[i % g.size()].spawn(BODY(&, i) {
        for (std::size_t phase = 0; phase < phases; ++phase) {
          at[i][phase % 2] = phase;
          if ((phase + i) % 17 == 0) WAIT(yield());
          if (WAIT(line.arrive_and_wait())) ++last_ones;
          for (const auto& each : at) REQUIRE(each[phase % 2] == phase);
        }
      });
    }
    g.run();
    REQUIRE(last_ones == phases);
  });
}

TEST_CASE(KIND "an arrival at a barrier of groups can be taken back until all have come") {
  stress(6, [](int round) {
    parallel::groups g({.count = 2, .spin = round % 2 == 0 ? 0us : 20us});
    parallel::barrier line(g, 1);
    std::array<int, 2> met{};
    for (std::size_t i = 0; i < 2; ++i) {
      g[i].spawn(BODY(&, i) {
        for (int k = 0; met[i] < 50; ++k) {
          const auto passed =
              WAIT(within(std::chrono::microseconds(20 + k % 50), line.arrive_and_wait()));
          if (passed) ++met[i];
          if (k % 3 == 0) WAIT(sleep_for(std::chrono::microseconds(k % 20)));
        }
      });
    }
    g.run();
    REQUIRE(met[0] == 50);
    REQUIRE(met[1] == 50);
  });
}

TEST_CASE(KIND "barriers of groups that cannot be are refused") {
  parallel::groups g({.count = 2});
  CHECK_THROWS_AS(parallel::barrier(g, 0), std::invalid_argument);
  CHECK_THROWS_AS(parallel::barrier(g, {1, 1, 1}), std::invalid_argument);
  parallel::barrier line(g, {0, 2});
  int passed = 0;
  for (int i = 0; i < 2; ++i) {
    g[1].spawn(BODY(&) {
      WAIT(line.arrive_and_wait());
      ++passed;
    });
  }
  g.run();
  CHECK(passed == 2);
}

TEST_CASE(KIND "a change of a watched variable reaches those who wait in other groups") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::watched<int> turn(0, "turn");
    const int strands = static_cast<int>(2 * g.size());
    constexpr int turns = 400;
    std::vector<int> order;  // protected by the turn
    for (int i = 0; i < strands; ++i) {
      g[static_cast<std::size_t>(i) % g.size()].spawn(BODY(&, i) {
        for (int k = i; k < turns; k += strands) {
          WAIT(parallel::wait_until([&, k] { return turn.get() == k; }, turn));
          order.push_back(k);
          ++turn;
        }
      });
    }
    g.run();
    REQUIRE(turn == turns);
    REQUIRE(order.size() == turns);
    REQUIRE(std::is_sorted(order.begin(), order.end()));
  });
}

TEST_CASE(KIND "predicates over several watched variables see each of them change") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::watched<int> left(0);
    parallel::watched<int> right(0);
    parallel::watched<int> seen(0);
    constexpr int steps = 300;
    std::atomic<int> timeouts{0};
    g[0].spawn(BODY(&) {
      for (int k = 1; k <= steps; ++k) {
        (k % 2 == 0 ? left : right) += 1;
        WAIT(wait_until([&, k] { return seen >= k; }, seen));
      }
    });
    g[1].spawn(BODY(&) {
      for (int k = 1; k <= steps; ++k) {
        int mine = k;  // the group's own
        const auto changed = [&] { return left + right >= mine; };
        while (!WAIT(
            within(std::chrono::microseconds(k % 7 * 10), wait_until(changed, left, right)))) {
          ++timeouts;
        }
        WAIT(wait_until(changed, right, left, right));
        seen = k;
      }
    });
    g.run();
    REQUIRE(seen == steps);
    REQUIRE(left + right == steps);
  });
}

TEST_CASE(KIND "strands that wait for groups' variables are named, and outlive those") {
  parallel::groups g({.count = 2, .pin = false});
  parallel::watched<bool> door(false, "door");
  parallel::mutex lock("lock");
  parallel::channel<int> values(1, "values");
  parallel::barrier line(g, 1, "line");
  CHECK(lock.try_lock());
  g[0].spawn(BODY(&) { WAIT(wait_until([&] { return door.get(); }, door)); });
  g[0].spawn(BODY(&) { static_cast<void>(WAIT(lock.scoped_lock())); });
  g[1].spawn(BODY(&) { WAIT(values.pop()); });
  g[1].spawn(BODY(&) { WAIT(line.arrive_and_wait()); });
  CHECK_THROWS_WITH_AS(g.run(),
                       "deadlock: nothing can run any more, but 4 strands have not ended\n"
                       "  group 0\n"
                       "  strand 1 waits for a change of \"door\"\n"
                       "  strand 2 waits for mutex \"lock\"\n"
                       "  group 1\n"
                       "  strand 1 waits for a value from channel \"values\"\n"
                       "  strand 2 waits for barrier \"line\"\n",
                       deadlock);
}

TEST_CASE(KIND "strands that wait for groups' variables can be cancelled") {
  parallel::groups g({.count = 2});
  parallel::watched<bool> door(false);
  parallel::mutex lock;
  parallel::channel<int> values(0);
  parallel::barrier line(g, 1);
  CHECK(lock.try_lock());
  int unwound = 0;
  g[0].spawn(BODY(&) {
    scheduler& own = g[0].scheduler();
    std::vector<strand<>> all;
    all.push_back(own.spawn(BODY(&) {
      const exit_counter guard{unwound};
      WAIT(wait_until([&] { return door.get(); }, door));
    }));
    all.push_back(own.spawn(BODY(&) {
      const exit_counter guard{unwound};
      static_cast<void>(WAIT(lock.scoped_lock()));
    }));
    all.push_back(own.spawn(BODY(&) {
      const exit_counter guard{unwound};
      WAIT(values.pop());
    }));
    all.push_back(own.spawn(BODY(&) {
      const exit_counter guard{unwound};
      WAIT(values.push(1));
      WAIT(line.arrive_and_wait());
    }));
    WAIT(sleep_for(100us));
    for (const auto& each : all) each.cancel();
    WAIT(yield());
    WAIT(yield());
    CHECK(unwound == 4);
  });
  g.run();
  CHECK(unwound == 4);
}
