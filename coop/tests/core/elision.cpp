// The types leave it possible that a compiler makes a coroutine's frame part of its caller's. Clang
// does so at -O2; GCC 12 never does, so this is built with Clang alone.
#include <doctest/doctest.h>

#include <cstdint>

#include "heddle/coop/generator.hpp"
#include "heddle/coop/task.hpp"

using heddle::coop::generator;
using heddle::coop::task;

namespace {

// Distance in bytes between the caller's frame and a local variable of a coroutine.
std::uintptr_t distance(const void* frame, const volatile int* local) {
  const auto a = reinterpret_cast<std::uintptr_t>(frame);
  const auto b = reinterpret_cast<std::uintptr_t>(local);
  return a < b ? b - a : a - b;
}

generator<const volatile int*> addresses(int count) {
  volatile int local = 0;
  for (int i = 0; i < count; ++i) {
    local = i;
    co_yield &local;
  }
}

task<const volatile int*> address() {
  volatile int local = 1;
  co_await std::suspend_never{};
  co_return &local;
}

}  // namespace

TEST_CASE("a generator that does not leave a function has its frame there") {
  for (const volatile int* const local : addresses(3)) {
    CHECK(distance(__builtin_frame_address(0), local) < 4096);
  }
}

TEST_CASE("a task that does not leave a function has its frame there") {
  const auto one = address();
  one.resume();
  REQUIRE(one.done());
  CHECK(distance(__builtin_frame_address(0), one.result()) < 4096);
}
