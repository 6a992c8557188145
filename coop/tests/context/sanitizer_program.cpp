// Has the flaw that its argument names: see sanitizers.cpp.
#include <atomic>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "heddle/coop/await.hpp"
#include "heddle/coop/context/asm_context.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

namespace {

[[gnu::noinline]] void write(volatile char* first, int at) { first[at] = 1; }

void beyond_local() {
  scheduler s;
  s.spawn([] {
    volatile char local[16] = {};
    await(yield());
    write(local, sizeof local);
  });
  s.run();
}

volatile int* left_behind;

void stack_after_end() {
  {
    asm_context home;
    asm_context other(
        [](void* to) {
          volatile int local = 1;
          left_behind = &local;
          static_cast<void>(to);
        },
        &home, 64 * 1024);
    asm_context::switch_to(home, other);
  }
  *left_behind = 2;
}

void frame_after_end() {
  {
    const auto sets = []() -> task<> {
      volatile int local = 1;
      left_behind = &local;
      co_await std::suspend_always{};
      local = 3;
    }();
    sets.resume();
  }
  *left_behind = 2;
}

// Each on a stack that others have had, with frames of all sizes.
int throws_from(int depth, volatile char* outer) {
  volatile char local[32] = {};
  local[depth % 32] = outer[0];
  if (depth == 0) throw std::runtime_error("from below");
  await(yield());
  return throws_from(depth - 1, local) + local[0];
}

void nothing() {
  parallel::groups g({.count = 2});
  std::atomic<int> caught{0};
  for (std::size_t i = 0; i < 2; ++i) {
    g[i].spawn([&, i] {
      scheduler& own = g[i].scheduler();
      for (int round = 0; round < 20; ++round) {
        in_scope(own, [&](scope& all) {
          for (int strand = 0; strand < 20; ++strand) {
            all.spawn([&, strand] {
              volatile char first = 1;
              try {
                throws_from(strand, &first);
              } catch (const std::runtime_error&) {
                ++caught;
              }
              await([](int count) -> task<> {
                for (int k = 0; k < count; ++k) co_await yield();
              }(strand));
            });
            all.spawn([]() -> task<> { co_await on_fiber([] { await(yield()); }); });
          }
          auto cancelled = all.spawn([] { await(sleep_for(std::chrono::hours(1))); });
          await(yield());
          cancelled.cancel();
        });
      }
      await(parallel::move_to(g[1 - i]));
      volatile char first = 1;
      try {
        throws_from(9, &first);
      } catch (const std::runtime_error&) {
        ++caught;
      }
      g[1 - i].scheduler().spawn([] { await(sleep_for(std::chrono::hours(1))); }).cancel();
    });
  }
  g.run();
  // Suspended when their scheduler goes.
  scheduler s;
  parallel::semaphore never(0);
  for (int strand = 0; strand < 20; ++strand) {
    s.spawn([&] {
      volatile char local[64] = {};
      await(never.P());
      local[0] = local[1];
    });
  }
  try {
    s.run();
  } catch (const deadlock&) {
    ++caught;
  }
  if (caught != 2 * 20 * 20 + 2 + 1) std::printf("%d were caught\n", caught.load());
}

int shared;

[[gnu::noinline]] void counts_up() { ++shared; }
[[gnu::noinline]] void counts_down() { --shared; }

// Counts the threads at work; relaxed accesses, so that nothing orders the threads' other accesses.
std::atomic<int> threads_at_it{0};

void count(void (*one)(), int threads) {
  scheduler s;
  for (int strand = 0; strand < 2; ++strand) {
    s.spawn([=] {
      if (strand == 0) threads_at_it.fetch_add(1, std::memory_order_relaxed);
      while (threads_at_it.load(std::memory_order_relaxed) < threads) await(yield());
      for (int i = 0; i < 1000; ++i) {
        one();
        await(yield());
      }
    });
  }
  s.run();
}

void race() {
  std::thread other(&count, &counts_down, 2);
  count(&counts_up, 2);
  other.join();
}

void no_race() { count(&counts_up, 1); }

}  // namespace

int main(int arguments, char** argument) {
  const std::map<std::string, void (*)()> ways = {
      {"beyond-local", &beyond_local},
      {"stack-after-end", &stack_after_end},
      {"frame-after-end", &frame_after_end},
      {"nothing", &nothing},
      {"race", &race},
      {"no-race", &no_race},
  };
  const auto way = ways.find(arguments == 2 ? argument[1] : "");
  if (way == ways.end()) {
    std::fputs("usage: coop-sanitizer WAY\n", stderr);
    return 2;
  }
  way->second();
}
