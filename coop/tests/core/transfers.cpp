// Compiled with -O2: below that, GCC makes a call of each symmetric transfer. Under a sanitizer it
// does so at -O2 too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "heddle/coop/ext/sanitizer.hpp"
#include "heddle/coop/task.hpp"

namespace {

using heddle::coop::task;

#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
const auto not_sanitized = doctest::skip(sanitized);

// The extent of the call stack as the bodies of tasks see it.
struct stack_extent {
  std::uintptr_t lowest = UINTPTR_MAX;
  std::uintptr_t highest = 0;

  [[gnu::noinline]] void sample() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest = std::min(lowest, here);
    highest = std::max(highest, here);
  }
};

task<int> one(stack_extent& stack) {
  stack.sample();
  co_return 1;
}

task<std::int64_t> sum_of(std::int64_t count, stack_extent& stack) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += co_await one(stack);
  co_return sum;
}

// All of them begin before one ends: a chain of transfers down, then one up.
task<std::int64_t> chain(std::int64_t length, stack_extent& stack) {
  stack.sample();
  if (length == 0) co_return 0;
  const std::int64_t below = co_await chain(length - 1, stack);
  stack.sample();
  co_return below + 1;
}

}  // namespace

TEST_CASE("30 million symmetric transfers take the stack of one" * not_sanitized) {
  stack_extent stack;
  constexpr std::int64_t awaits = 15'000'000;  // a transfer there, and one back
  const auto sum = sum_of(awaits, stack);
  sum.resume();
  REQUIRE(sum.done());
  CHECK(sum.result() == awaits);
  CHECK(stack.highest - stack.lowest < 1024);
}

TEST_CASE("a chain of 100 000 tasks takes the stack of one" * not_sanitized) {
  stack_extent stack;
  const auto outermost = chain(100'000, stack);
  outermost.resume();
  REQUIRE(outermost.done());
  CHECK(outermost.result() == 100'000);
  CHECK(stack.highest - stack.lowest < 1024);
}
