// Has the flaw that its argument names: see sanitizers.cpp.
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "heddle/coop/await.hpp"
#include "heddle/coop/context/asm_context.hpp"
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
