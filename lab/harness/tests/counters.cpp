#include "harness/counters.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/locks.hpp"
#include "harness/measure.hpp"
#include "harness/team.hpp"

using namespace heddle::lab;

TEST_CASE("what every thread counted is in the sum, also when it has ended") {
  region timed;
  timed.measure([&] {
    run_on_threads(timed, 4, [](int i) {
      for (int k = 0; k <= i; ++k) ++count().strand_switches;
    });
  });
  CHECK(timed.counted().strand_switches == 1 + 2 + 3 + 4);
  CHECK(timed.kernel_threads() == 5);
}

TEST_CASE("allocations are counted, the aligned and the array ones too") {
  struct alignas(128) wide {
    char bytes[128];
  };
  region timed;
  timed.measure([] {
    for (int i = 0; i < 10; ++i) {
      const std::unique_ptr<int> one(new int(i));
      const std::unique_ptr<int[]> many(new int[100]);
      const std::unique_ptr<wide> aligned(new wide);
      CHECK(reinterpret_cast<std::uintptr_t>(aligned.get()) % 128 == 0);
    }
  });
  CHECK(timed.counted().allocations >= 30);
}

TEST_CASE("lock operations are counted, and those that had to wait") {
  counting<std::mutex> mutex;
  region timed;
  timed.measure([&] {
    mutex.lock();
    std::jthread waiter([&] {
      mutex.lock();
      mutex.unlock();
    });
    // Until the other thread has met the lock; it cannot have passed.
    while (counted_so_far().blocked_p_operations == 0) std::this_thread::yield();
    mutex.unlock();
  });
  CHECK(timed.counted().p_operations == 2);
  CHECK(timed.counted().blocked_p_operations == 1);
}

TEST_CASE("the region's wall time is what was bracketed, or everything") {
  region bracketed;
  bracketed.measure([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    bracketed.begin();
    bracketed.end();
  });
  CHECK(bracketed.total_ns() >= 5'000'000);
  CHECK(bracketed.wall_ns() <= bracketed.total_ns() - 5'000'000);
  region whole;
  whole.measure([] {});
  CHECK(whole.wall_ns() == whole.total_ns());
}
