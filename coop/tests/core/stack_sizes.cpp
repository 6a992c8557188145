// Fibers with stacks of chosen sizes, among others on one scheduler.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/ext/sanitizer.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

namespace {

#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
constexpr std::size_t smallest = 16 * 1024;  // what a sanitizer does at a switch needs more
#elif !defined(__OPTIMIZE__)
constexpr std::size_t smallest = 8 * 1024;  // the frames between run() and a body take 1 KB
#else
constexpr std::size_t smallest = stack::minimum_bytes;
#endif
constexpr std::size_t largest = 8 * 1024 * 1024;

std::uintptr_t frame() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// Calls itself until `bytes` below `top` are used, lets others run there, and counts the levels
// whose locals are not as they were.
[[gnu::noinline]] int damaged_below(std::uintptr_t top, std::size_t bytes, std::uint64_t mark) {
  volatile std::uint64_t local[16];
  for (volatile std::uint64_t& each : local) each = mark;
  int damaged = 0;
  if (top - frame() < bytes) {
    damaged = damaged_below(top, bytes, mark + 1);
  } else {
    await(yield());
  }
  for (const volatile std::uint64_t& each : local) {
    if (each != mark) return damaged + 1;
  }
  return damaged;
}

// The damage to a fiber that begins here, over most of the stack it was given.
int damaged(std::size_t given) {
  return damaged_below(frame(), given - given / 4 - smallest / 4, given << 32);
}

}  // namespace

TEST_CASE("fibers of all sizes use their stacks beside each other") {
  for (const stack_guard guard : {stack_guard::page, stack_guard::none}) {
    scheduler s({.stack_guard = guard});
    int ended = 0;
    int spawned = 0;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t bytes = smallest; bytes <= largest; bytes *= 2) {
        for (const std::size_t wanted : {bytes, bytes - bytes / 4}) {
          if (wanted < smallest) continue;
          ++spawned;
          s.spawn(stack_size{wanted}, [&ended, wanted] {
            REQUIRE(damaged(wanted) == 0);
            ++ended;
          });
        }
        ++spawned;
        s.spawn([&ended] {
          REQUIRE(damaged(scheduler_options{}.stack_bytes) == 0);
          ++ended;
        });
      }
      s.run();
    }
    CHECK(ended == spawned);
  }
}

TEST_CASE("a stack that is free is used by the next strand of its size alone") {
  scheduler s;
  const std::size_t own = scheduler_options{}.stack_bytes;
  std::set<std::uintptr_t> of_own;
  std::set<std::uintptr_t> of_large;
  for (int i = 0; i < 100; ++i) {
    s.spawn([&] { of_own.insert(frame()); });
    s.spawn(stack_size{own}, [&] { of_own.insert(frame()); });      // no other size
    s.spawn(stack_size{own - 1}, [&] { of_own.insert(frame()); });  // rounded up
    s.spawn(stack_size{4 * own}, [&] { of_large.insert(frame()); });
    s.spawn(stack_size{3 * own}, [&] { of_large.insert(frame()); });
    s.run();
  }
  // Frames of several lambdas, each on one stack.
  CHECK(*of_own.rbegin() - *of_own.begin() < 1024);
  CHECK(*of_large.rbegin() - *of_large.begin() < 1024);
  CHECK(*of_own.begin() / own != *of_large.begin() / own);
}

TEST_CASE("a stack size that cannot be is refused where it is asked for") {
  scheduler s;
  for (const std::size_t bytes :
       {std::size_t{1}, stack::minimum_bytes - 1, stack::maximum_bytes + 1, SIZE_MAX}) {
    CHECK_THROWS_AS(s.spawn(stack_size{bytes}, [] {}), std::invalid_argument);
  }
  CHECK(s.alive() == 0);
  s.run();
}

TEST_CASE("what spawns in a scope, and what a task runs on a fiber, may choose a size too") {
  scheduler s({.stack_bytes = smallest});
  int results = 0;
  s.spawn(stack_size{64 * 1024}, [&] {
    in_scope(s, [&](scope& all) {
      all.spawn(stack_size{largest}, [&] { results += damaged(largest) == 0 ? 1 : 0; });
      all.spawn(stack_size{64 * 1024}, [&] { results += damaged(64 * 1024) == 0 ? 10 : 0; });
    });
  });
  s.spawn([&]() -> task<> {
    const int wrong = co_await on_fiber(stack_size{1 << 20}, [] { return damaged(1 << 20); });
    results += wrong == 0 ? 100 : 0;
  });
  s.run();
  CHECK(results == 111);
}

TEST_CASE("suspended fibers of all sizes are unwound with their scheduler") {
  struct on_exit {
    int& count;
    ~on_exit() { ++count; }
  };
  int unwound = 0;
  int spawned = 0;
  {
    scheduler s;
    semaphore never(0);
    for (std::size_t bytes = 2 * smallest; bytes <= largest; bytes *= 2) {
      ++spawned;
      s.spawn(stack_size{bytes}, [&] {
        const on_exit guard{unwound};
        await(never.P());
      });
    }
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(unwound == 0);
  }
  CHECK(unwound == spawned);
}
