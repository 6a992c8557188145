#include "harness/posix_semaphore.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace heddle::lab;

namespace {

template <class Body>
counters counted_in(const Body& body) {
  const counters before = counted_so_far();
  body();
  counters after = counted_so_far();
  after -= before;
  return after;
}

}  // namespace

TEST_CASE("a POSIX semaphore's P operations are counted") {
  posix_semaphore two(2);
  const counters counted = counted_in([&] {
    two.P();
    two.P();
  });
  CHECK(counted.p_operations == 2);
  CHECK(counted.blocked_p_operations == 0);
}

TEST_CASE("a POSIX semaphore's P operations that wait are counted as such") {
  std::uint64_t blocked = 0;
  // A thread may come to its P only after the V: again then.
  for (int attempt = 0; attempt < 1000 && blocked == 0; ++attempt) {
    posix_semaphore none(0);
    std::atomic<bool> begun = false;
    const counters counted = counted_in([&] {
      std::thread waiting([&] {
        begun = true;
        none.P();
      });
      while (!begun) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      none.V();
      waiting.join();
    });
    CHECK(counted.p_operations == 1);
    blocked = counted.blocked_p_operations;
  }
  CHECK(blocked == 1);
}
