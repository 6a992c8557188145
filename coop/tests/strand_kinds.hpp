// How the suites write a strand's body once for both kinds: STACKFUL is 1 or 0 in the file that
// includes them. WAIT(x) is how a strand waits for an awaitable, BODY(captures) begins a lambda
// that waits, RETURN ends one that has a result.
#pragma once

#include <doctest/doctest.h>

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

/// Runs `test(options)` under the deterministic policy and under many random ones. Virtual time.
template <class Test>
void under_policies(int seeds, const Test& test) {
  using heddle::coop::clock_policy;
  test(heddle::coop::scheduler_options{.clock = clock_policy::simulated});
  for (int seed = 0; seed < seeds; ++seed) {
    test(heddle::coop::scheduler_options{.clock = clock_policy::simulated,
                                         .random_seed = static_cast<std::uint64_t>(seed)});
  }
}

struct exit_counter {
  int& count;
  ~exit_counter() { ++count; }
};
