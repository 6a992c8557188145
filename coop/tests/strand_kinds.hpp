// Macros with which the suites write a strand's body once for both kinds: STACKFUL is 1 or 0 in the
// file that includes them. WAIT(x) is how a strand waits for an awaitable, BODY(captures) begins a
// lambda that waits, RETURN ends one that has a result.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"

#if STACKFUL
#define KIND "fiber: "
#define WAIT(...) ::heddle::coop::await(__VA_ARGS__)
#define BODY(...) [__VA_ARGS__]()
#define BODY_OF(result, ...) [__VA_ARGS__]() -> result
#define RETURN return
#else
#define KIND "task: "
#define WAIT(...) (co_await (__VA_ARGS__))
#define BODY(...) [__VA_ARGS__]() -> ::heddle::coop::task<>
#define BODY_OF(result, ...) [__VA_ARGS__]() -> ::heddle::coop::task<result>
#define RETURN co_return
#endif

using namespace heddle::coop;
using namespace std::chrono_literals;

/// Number of seeds that a test tries: `few` under a sanitizer; more if the environment's
/// HEDDLE_SEEDS says so.
inline int seeds(int many, int few) {
  if (const char* const wanted = std::getenv("HEDDLE_SEEDS")) return std::atoi(wanted);
#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
  static_cast<void>(many);
  return few;
#else
  static_cast<void>(few);
  return many;
#endif
}

/// Runs `test(options)` under the deterministic policy and under many random ones. Virtual time.
template <class Test>
void under_policies(int tries, const Test& test) {
  test(scheduler_options{.clock = clock_policy::simulated});
  for (int seed = 0; seed < tries; ++seed) {
    test(scheduler_options{.clock = clock_policy::simulated,
                           .random_seed = static_cast<std::uint64_t>(seed)});
  }
}

struct exit_counter {
  int& count;
  ~exit_counter() { ++count; }
};
