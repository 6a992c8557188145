// Included once for each kind of strand.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "blocking.hpp"
#include "heddle/coop/offload.hpp"
#include "strand_kinds.hpp"

TEST_CASE(KIND "an offloaded call runs on another thread, and results in what it returns") {
  scheduler s;
  thread_pool pool(1);
  const auto own = std::this_thread::get_id();
  std::string trace;
  s.spawn(BODY(&) {
    const auto other = WAIT(offload([] { return std::this_thread::get_id(); }));
    CHECK(other != own);
    CHECK(std::this_thread::get_id() == own);
    auto moved = WAIT(offload(pool, [] { return std::make_unique<int>(7); }));
    CHECK(*moved == 7);
    WAIT(offload(pool, [&] { trace += 'a'; }));
    trace += 'b';
  });
  s.run();
  CHECK(trace == "ab");
  CHECK(pool.threads() == 1);
}

TEST_CASE(KIND "what an offloaded call throws is thrown where it is awaited") {
  scheduler s;
  thread_pool pool(1);
  std::string what;
  s.spawn(BODY(&) {
    try {
      WAIT(offload(pool, []() -> int { throw std::runtime_error("no such table"); }));
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
  });
  s.run();
  CHECK(what == "no such table");
}

TEST_CASE(KIND "other strands run while calls are under way, as many as the pool has threads") {
  scheduler s;
  thread_pool pool(3);
  latch door;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  int over = 0;
  for (int i = 0; i < 12; ++i) {
    s.spawn(BODY(&) {
      WAIT(offload(pool, [&] {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        door.pass();
        --inside;
      }));
      ++over;
    });
  }
  s.spawn(BODY(&) {
    while (inside != 3) WAIT(yield());
    CHECK(over == 0);
    door.open();
  });
  s.run();
  CHECK(over == 12);
  CHECK(most == 3);
  CHECK(pool.threads() == 3);
}

TEST_CASE(KIND "a call that has not begun is cancelled; one that has begun is waited for") {
  scheduler s;
  thread_pool pool(1);
  latch door;
  std::atomic<bool> began{false};
  std::string trace;
  const auto first = s.spawn(BODY_OF(int, &) {
    const int result = WAIT(offload(pool, [&] {
      began = true;
      door.pass();
      return 3;
    }));
    trace += 'r';
    try {
      WAIT(yield());
    } catch (const cancelled&) {
      trace += 'c';
    }
    RETURN result;
  });
  const auto second = s.spawn(BODY(&) { WAIT(offload(pool, [&] { trace += '?'; })); });
  s.spawn(BODY(&) {
    while (!began) WAIT(yield());
    first.cancel();
    second.cancel();
    WAIT(yield());
    WAIT(yield());
    CHECK(second.done());
    CHECK_FALSE(first.done());
    door.open();
    CHECK(WAIT(first.join()) == 3);
  });
  s.run();
  CHECK(trace == "rc");
}

TEST_CASE(KIND "a limit ends the wait for a call that has not begun") {
  scheduler s;
  thread_pool pool(1);
  latch door;
  std::atomic<bool> began{false};
  bool is_late = false;
  s.spawn(BODY(&) {
    WAIT(offload(pool, [&] {
      began = true;
      door.pass();
    }));
  });
  s.spawn(BODY(&) {
    while (!began) WAIT(yield());
    const bool came = WAIT(within(1ms, offload(pool, [&] { is_late = true; })));
    CHECK_FALSE(came);
    door.open();
  });
  s.run();
  CHECK_FALSE(is_late);
}

TEST_CASE(KIND "a limit does not end the wait for a call that has begun, whose result is kept") {
  scheduler s;
  thread_pool pool(1);
  latch door;
  std::atomic<bool> began{false};
  time_point end{};
  s.spawn(BODY(&) {
    // The limit may be over before the thread has begun: on a busy machine, a longer one is.
    for (duration limit = 1ms;; limit *= 2) {
      end = s.now() + limit;
      const auto kept = WAIT(within(limit, offload(pool, [&] {
                                      began = true;
                                      door.pass();
                                      return 4;
                                    })));
      if (kept) {
        CHECK(*kept == 4);
        CHECK(s.now() > end);
        break;
      }
      CHECK_FALSE(began);
    }
  });
  s.spawn(BODY(&) {
    while (!began) WAIT(yield());
    WAIT(sleep_until(end + 1ms));
    door.open();
  });
  s.run();
}

TEST_CASE(KIND "virtual time stands still while a call is under way") {
  scheduler s({.clock = clock_policy::simulated});
  thread_pool pool(1);
  std::string trace;
  s.spawn(BODY(&) {
    WAIT(sleep_for(1h));
    trace += 't';
  });
  s.spawn(BODY(&) {
    WAIT(offload(pool, [] { std::this_thread::sleep_for(2ms); }));
    CHECK(s.now() == time_point{});
    trace += 'o';
  });
  s.run();
  CHECK(trace == "ot");
}

TEST_CASE(KIND "a strand that is destroyed waits for its call, if that has begun") {
  // Where this thread has no processor for long enough, all three begin before it goes on.
  int begun = 3;
  for (int round = 0; round < 100 && begun == 3; ++round) {
    thread_pool pool(1);
    std::atomic<int> began{0};
    std::atomic<int> over{0};
    {
      scheduler s;
      for (int i = 0; i < 3; ++i) {
        s.spawn(BODY(&) {
          const int of_the_frame = 1;
          WAIT(offload(pool, [&] {
            ++began;
            std::this_thread::sleep_for(20ms);
            over += of_the_frame;
          }));
        });
      }
      const address_limit limit;
      s.spawn(BODY(&) {
        while (began == 0) WAIT(yield());
        s.spawn(stack_size{stack::maximum_bytes}, [] {});
      });
      CHECK_THROWS_AS(s.run(), std::system_error);  // there is no room for that stack
    }
    CHECK(began > 0);
    CHECK(over == began);
    begun = began;
  }
  CHECK(begun < 3);
}
