// Included once for each kind of strand.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/coop/concurrent.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "strand_kinds.hpp"

TEST_CASE(KIND "strands that never wait take turns, a slice each") {
  scheduler s;
  concurrent processes(s, checkpoints{3});
  std::string trace;
  for (const char letter : {'a', 'b', 'c'}) {
    s.spawn(BODY(&trace, letter) {
      for (int i = 0; i < 7; ++i) {
        trace += letter;
        WAIT(checkpoint());
      }
    });
  }
  s.run();
  // A slice goes on where a strand ends: b has what a's last one leaves, c what b's leaves.
  CHECK(trace == "aaabbbcccaaabbbcccabc");
  CHECK(processes.switches() == 7);
}

TEST_CASE(KIND "no strand is ahead of another by more than a slice") {
  for (const std::uint32_t slice : {1U, 10U, 1000U}) {
    scheduler s;
    const concurrent processes(s, checkpoints{slice});
    constexpr std::int64_t steps = 20'000;
    std::vector<std::int64_t> done(5, 0);
    for (auto& mine : done) {
      s.spawn(BODY(&) {
        while (mine < steps) {
          ++mine;
          const auto [least, most] = std::minmax_element(done.begin(), done.end());
          REQUIRE(*most - *least <= slice);
          WAIT(checkpoint());
        }
      });
    }
    s.run();
    REQUIRE(processes.switches() == 5 * steps / slice);
  }
}

TEST_CASE(KIND "implicit switches lose updates, unless a semaphore keeps them out") {
  int lost = 0;
  under_policies(seeds(500, 30), [&lost](const scheduler_options& options) {
    for (const bool guarded : {false, true}) {
      scheduler s(options);
      const concurrent processes(s, checkpoints{2});
      heddle::coop::semaphore account_is_free(1);
      int account = 0;
      for (int i = 0; i < 3; ++i) {
        s.spawn(BODY(&) {
          for (int k = 0; k < 5; ++k) {
            if (guarded) WAIT(account_is_free.P());
            const int read = account;
            WAIT(checkpoint());  // a loop that works out the new value
            account = read + 1;
            if (guarded) account_is_free.V();
          }
        });
      }
      s.run();
      if (guarded) {
        REQUIRE(account == 15);
      } else {
        lost += account < 15 ? 1 : 0;
      }
    }
  });
  CHECK(lost > 0);
}

TEST_CASE(KIND "a strand that hogs the processor does not keep the others from it") {
  scheduler s;
  const concurrent processes(s, 200us);
  bool stop = false;
  std::int64_t laps = 0;
  s.spawn(BODY(&) {
    while (!stop) {  // without a slice's end, for ever
      ++laps;
      WAIT(checkpoint());
    }
  });
  s.spawn(BODY(&) {
    for (int slices = 0; slices < 5; ++slices) {
      const std::uint64_t before = processes.switches();
      while (processes.switches() == before) WAIT(checkpoint());
    }
    WAIT(sleep_for(1ms));
    stop = true;
  });
  s.run();
  CHECK(processes.switches() >= 5);
  CHECK(laps > 0);
}

TEST_CASE(KIND "a checkpoint is nothing without time slices, and outside of strands") {
  scheduler s;
  scheduler other;
  std::string trace;
  const auto spawn = [&trace](scheduler& on) {
    for (const char letter : {'a', 'b'}) {
      on.spawn(BODY(&trace, letter) {
        for (int i = 0; i < 3; ++i) {
          trace += letter;
          WAIT(checkpoint());
        }
      });
    }
  };
  spawn(s);
  s.run();
  CHECK(trace == "aaabbb");
  trace.clear();
  const concurrent processes(other, checkpoints{1});
  spawn(s);  // not the scheduler that is sliced
  s.run();
  CHECK(trace == "aaabbb");
  trace.clear();
  await(checkpoint());
  spawn(other);
  other.run();
  CHECK(trace == "ababab");
}

TEST_CASE(KIND "a cancellation ends a strand that only computes, at the end of its slice") {
  scheduler s;
  const concurrent processes(s, checkpoints{10});
  int unwound = 0;
  auto endless = s.spawn(BODY(&) {
    const exit_counter guard{unwound};
    for (;;) WAIT(checkpoint());
  });
  s.spawn(BODY(&) {
    WAIT(yield());
    endless.cancel();
    WAIT(yield());
    WAIT(yield());
    CHECK(unwound == 1);
  });
  s.run();
}

TEST_CASE(KIND "slices that cannot be are refused") {
  scheduler s;
  scheduler simulated({.clock = clock_policy::simulated});
  CHECK_THROWS_AS(concurrent(s, checkpoints{0}), std::invalid_argument);
  CHECK_THROWS_AS(concurrent(s, 0ms), std::invalid_argument);
  CHECK_THROWS_AS(concurrent(simulated, 1ms), std::invalid_argument);
  const concurrent one(s, checkpoints{1});
  CHECK_THROWS_AS(concurrent(s, checkpoints{1}), std::logic_error);
}

TEST_CASE(KIND "who sleeps wakes at the end of a slice, not of many") {
  scheduler s;
  const concurrent processes(s, checkpoints{1000});
  bool awake = false;
  s.spawn(BODY(&) {
    WAIT(sleep_for(1us));
    awake = true;
  });
  for (int hog = 0; hog < 2; ++hog) {
    s.spawn(BODY(&) {
      const std::uint64_t before = processes.switches();
      const time_point end = s.now() + 2us;
      while (s.now() < end) WAIT(checkpoint());
      // A slice may be over in the midst of these; then the sleeper has its turn, and this strand.
      for (int i = 0; i < 3000 && !awake; ++i) WAIT(checkpoint());
      CHECK(awake);
      CHECK(processes.switches() > before);
    });
  }
  s.run();
}
