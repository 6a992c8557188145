#include "harness/deadlock.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "harness/posix_semaphore.hpp"

namespace heddle::lab::deadlock_test {

// Two threads that each have what the other one waits for.
struct embrace {
  posix_semaphore left{0};
  posix_semaphore right{0};
  std::jthread one{[this] { left.P(); }};
  std::jthread other{[this] { right.P(); }};

  void end() {
    left.V();
    right.V();
  }
};

TEST_CASE("threads that all wait for each other are a deadlock, which is found") {
  embrace both;
  posix_semaphore found(0);
  const deadlock_watch watch([] { return std::int64_t{7}; }, [&] { found.V(); });
  found.P();  // the test hangs if it is not
  both.end();
}

TEST_CASE("who makes progress, or only runs, is in no deadlock") {
  using std::chrono::milliseconds;
  const auto is_found = [](const std::function<std::int64_t()>& progress, bool runs) {
    embrace both;
    std::atomic<bool> over{false};
    std::atomic<bool> found{false};
    std::jthread busy([&] {
      while (runs && !over) {
      }
    });
    {
      const deadlock_watch watch(progress, [&] { found = true; });
      std::this_thread::sleep_for(milliseconds(200));
    }
    over = true;
    both.end();
    return found.load();
  };
  std::atomic<std::int64_t> more{0};
  CHECK_FALSE(is_found([&] { return ++more; }, false));
  CHECK_FALSE(is_found([] { return std::int64_t{7}; }, true));
}

}  // namespace heddle::lab::deadlock_test
