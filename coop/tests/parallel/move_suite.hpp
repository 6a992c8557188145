// Included once for each kind of strand.
#include <malloc.h>
#include <sched.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "context/stack_pool.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/parallel/balance.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/parallel/watched.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "a strand that moves goes on in the other group, with all that it has") {
  parallel::groups g({.count = 3});
  std::array<int, 3> thread{};
  for (std::size_t i = 0; i < 3; ++i) g[i].spawn([&, i] { thread[i] = gettid(); });
  g.run();
  std::size_t moves = 0;
  g[0].spawn(
      BODY(&) {
        std::string text = "as it was";
        for (; moves < 999; ++moves) {
          const std::size_t next = (moves + 1) % 3;
          WAIT(parallel::move_to(g[next]));
          REQUIRE(gettid() == thread[next]);
          REQUIRE(parallel::group::current() == &g[next]);
          if (moves % 7 == 0) WAIT(yield());
          REQUIRE(gettid() == thread[next]);
        }
        WAIT(parallel::move_to(g[0]));  // is there
        CHECK(text == "as it was");
      },
      "traveller");
  g.run();
  CHECK(moves == 999);
}

// Each meets all that a strand can be in the midst of: ThreadSanitizer and a wrong stack find what
// is not handed over.
TEST_CASE(KIND "many strands move at once") {
  stress(4, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore few(2);
    std::vector<int> visits(g.size());  // each group's own
    std::atomic<int> ended{0};
    constexpr int strands = 40;
    constexpr int moves = 60;
    for (int i = 0; i < strands; ++i) {
      g[static_cast<std::size_t>(i) % g.size()].spawn(BODY(&, i) {
        std::vector<int> mine;
        for (int k = 0; k < moves; ++k) {
          const std::size_t to = static_cast<std::size_t>(i + k * (1 + i % 3)) % g.size();
          WAIT(parallel::move_to(g[to]));
          ++visits[to];
          mine.push_back(k);
          if (k % 9 == i % 9) WAIT(yield());
          if (k % 13 == i % 13) {
            WAIT(few.P());
            few.V();
          }
          if (k % 31 == i % 31) WAIT(sleep_for(10us));
        }
        if (mine.size() == moves) ++ended;
      });
    }
    g.run();
    REQUIRE(ended == strands);
    int sum = 0;
    for (const int each : visits) sum += each;
    REQUIRE(sum == strands * moves);
  });
}

TEST_CASE(KIND "a strand that cannot move says why") {
  parallel::groups g({.count = 2});
  std::vector<std::string> reasons;
  const auto tries = BODY(&) {
    try {
      WAIT(parallel::move_to(g[1]));
    } catch (const std::logic_error& error) {
      reasons.push_back(error.what());
    }
  };
  g[0].spawn(
      BODY(&) {
        const auto held = g[0].scheduler().spawn(tries, "held");
        WAIT(held.join());
        scope all(g[0].scheduler());
        all.spawn(tries, "in a scope");
        WAIT(all.join());
      },
      "parent");
  g.run();
  scheduler alone;
  alone.spawn(tries, "alone");
  alone.run();
  REQUIRE(reasons.size() == 3);
  CHECK(reasons[0].starts_with("strand 2 \"held\" cannot move to another group while others"));
  CHECK(reasons[1].starts_with("strand 3 \"in a scope\" cannot move"));
  CHECK(reasons[2] == "strand 1 \"alone\" is in no group, and cannot move to one");
}

TEST_CASE(KIND "a strand that has moved is destroyed, or throws, where it is") {
  int destroyed_on = 0;
  int there = 0;
  {
    parallel::groups g({.count = 2, .pin = false});
    parallel::semaphore never(0, "never");
    g[0].spawn(
        BODY(&) {
          struct at_end {
            int& thread;
            ~at_end() { thread = gettid(); }
          } const note{destroyed_on};
          WAIT(parallel::move_to(g[1]));
          there = gettid();
          WAIT(never.P());
        },
        "emigrant");
    CHECK_THROWS_WITH_AS(g.run(),
                         "deadlock: nothing can run any more, but 1 strand has not ended\n"
                         "  group 1\n"
                         "  strand 1 \"emigrant\" waits for semaphore \"never\"\n",
                         deadlock);
    g[0].spawn(BODY(&) {
      WAIT(parallel::move_to(g[1]));
      throw std::runtime_error("from abroad");
    });
    CHECK_THROWS_WITH_AS(g.run(), "from abroad", std::runtime_error);
  }
  CHECK(destroyed_on == there);
}

TEST_CASE(KIND "memory is bounded where strands come and do not go") {
  parallel::groups g({.count = 2});
  std::atomic<int> arrived{0};
  const auto emigrate = [&](int strands) {
    const int before = arrived;
    g[0].spawn(BODY(&, strands, before) {
      for (int i = 0; i < strands; ++i) {
        g[0].scheduler().spawn(BODY(&) {
          WAIT(parallel::move_to(g[1]));
          ++arrived;
        });
        if (i % 8 == 0) WAIT(yield());
        while (arrived < before + i - 100) WAIT(yield());
      }
    });
    g.run();
  };
  const auto used = [] {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd + heddle::coop::detail::stack_pool::process().mapped_bytes();
  };
  emigrate(3000);
  const std::size_t before = used();
  emigrate(12000);
  CHECK(arrived == 15000);
  // Some hundred stacks of 64 KB, by how many were under way at once; 12 000 would be 768 MB.
  CHECK(used() < before + 32 * 1024 * 1024);
}

// The test counts moves instead of timing them: some strands must have moved, and all must have
// ended.
TEST_CASE(KIND "a balancer gives movable strands of a group that has many to one that has few") {
  for (const bool balance : {true, false}) {
    parallel::groups g({.count = 2, .balance = balance});
    std::atomic<int> ended{0};
    std::atomic<int> fixed_left{0};
    for (int i = 0; i < 60; ++i) {
      g[0].spawn(BODY(&, i) {
        const bool movable = i % 2 == 0;
        parallel::set_movable(movable);
        for (int k = 0; k < 500; ++k) WAIT(yield());
        if (!movable && parallel::group::current() != &g[0]) ++fixed_left;
        ++ended;
      });
    }
    g.run();
    CHECK(ended == 60);
    CHECK(fixed_left == 0);
    CHECK((g[0].given_away() > 0) == balance);
  }
}

// The strand waits for two variables. The first change ends the wait; it is moved; the second
// change finds the wait not taken down yet, and so has a message under way, to the group in which
// the strand waited, when the strand goes on in the other one.
TEST_CASE(KIND "a strand that is moved after a wait leaves its old group's messages to that") {
  struct probe final : message {
    int thread = 0;
    probe() : message(&deliver_it) {}
    static void deliver_it(message& self, scheduler*) noexcept {
      static_cast<probe&>(self).thread = gettid();
    }
  } posted;
  parallel::groups g({.count = 2, .balance = true});
  parallel::watched<int> first(0, "first");
  parallel::watched<int> second(0, "second");
  int thread = 0;
  bool moved = false;
  std::atomic<bool> waits{false};
  std::atomic<bool> given{false};
  std::atomic<bool> changed{false};
  g[0].spawn(BODY(&) {
    thread = gettid();
    g[0].scheduler().spawn(BODY(&) {
      parallel::set_movable();
      WAIT(parallel::wait_until([&] { return first + second > 0; }, first, second));
      moved = parallel::group::current() == &g[1];
    });
    for (int i = 0; i < 20; ++i) {
      g[0].scheduler().spawn(BODY(&) {
        while (!given) WAIT(yield());
      });
    }
    WAIT(yield());  // now it waits: it would not, and so not be moved, if it saw the change first
    waits = true;
    while (g[0].given_away() == 0) WAIT(yield());
    given = true;
    // Until the strand is about to go on.
    while (!changed) sched_yield();
    usleep(20'000);
  });
  g[1].spawn(BODY(&) {
    while (!waits) WAIT(yield());
    first = 1;
    while (!given) sched_yield();
    second = 1;
    g[0].post(posted);
    changed = true;
  });
  g.run();
  CHECK(moved);
  CHECK(posted.thread == thread);
}
