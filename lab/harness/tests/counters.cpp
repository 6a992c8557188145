#include "harness/counters.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
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
  region timed;
  bool all_aligned = true;
  timed.measure([&] {
    for (int i = 0; i < 10; ++i) {
      // Called as functions: the compiler may leave out a pair of new and delete expressions.
      ::operator delete(::operator new(4));
      ::operator delete[](::operator new[](400));
      constexpr std::align_val_t line{128};
      void* aligned = ::operator new(100, line);
      all_aligned = all_aligned && reinterpret_cast<std::uintptr_t>(aligned) % 128 == 0;
      ::operator delete(aligned, line);
    }
  });
  CHECK(timed.counted().allocations == 30);
  CHECK(all_aligned);
}

TEST_CASE("memory that a run needs is seen, though it is given back") {
  constexpr std::size_t bytes = 64u << 20;
  region timed;
  timed.measure([] {
    const std::vector<char> touched(bytes, 'x');
    CHECK(touched[bytes / 2] == 'x');
  });
#if defined(__SANITIZE_THREAD__)
  constexpr std::size_t most = 8 * bytes;  // four bytes of its own for each
#else
  constexpr std::size_t most = 2 * bytes;
#endif
  // The kernel's count of pages may be behind by some hundred kilobytes.
  CHECK(timed.grown_bytes() > bytes - bytes / 8);
  CHECK(timed.grown_bytes() < most);
  CHECK(timed.reserved_bytes() >= bytes);
}

namespace {

/// Tells when it was found locked.
struct telling_mutex : std::mutex {
  std::atomic<bool> found_locked{false};
  bool try_lock() {
    const bool got = std::mutex::try_lock();
    if (!got) found_locked = true;
    return got;
  }
};

}  // namespace

TEST_CASE("lock operations are counted, and those that had to wait") {
  counting<telling_mutex> mutex;
  region timed;
  timed.measure([&] {
    mutex.lock();
    std::jthread waiter([&] {
      mutex.lock();
      mutex.unlock();
    });
    // Until the other thread has met the lock; it cannot have passed.
    while (!mutex.mutex().found_locked) std::this_thread::yield();
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
