// Overflows a stack, in the way that its argument names: see overflow.cpp. Without doctest, which
// has a handler of SIGSEGV of its own.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/context/asm_context.hpp"
#include "heddle/coop/context/ucontext_context.hpp"
#include "heddle/coop/scheduler.hpp"

using namespace heddle::coop;

namespace {

[[gnu::noinline]] int recurse(int depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  const int below = depth == 0 ? 0 : recurse(depth - 1);
  return below + frame[0];
}

void overflow(void*) { recurse(1 << 20); }

void in_strand() {
  scheduler s({.stack_bytes = 32 * 1024});
  s.spawn([] {}, "innocent");
  s.spawn([] { overflow(nullptr); }, "parser");
  s.run();
}

void in_strand_of_chosen_size() {
  scheduler s({.stack_bytes = 32 * 1024});
  s.spawn([] {}, "innocent");
  s.spawn(
      stack_size{100'000}, [] { overflow(nullptr); }, "deep");
  s.run();
}

template <class Context>
void in_context() {
  Context home;
  Context other(&overflow, nullptr, 64 * 1024);
  Context::switch_to(home, other);
}

void in_thread() {
  std::thread([] {
    scheduler s;
    s.spawn([] { overflow(nullptr); }, "elsewhere");
    s.run();
  }).join();
}

std::vector<stack> neighbours;

void exit_if_intact(int) {
  for (const stack& each : neighbours) {
    const bool intact = std::all_of(each.bottom(), each.top(),
                                    [](std::byte byte) { return byte == std::byte{0x5a}; });
    if (!intact) _exit(41);
  }
  _exit(42);
}

// Between two others: which are next to it, as stacks come from a new slab in the order of their
// addresses.
void between_neighbours() {
  signal(SIGSEGV, &exit_if_intact);
  asm_context home;
  neighbours.emplace_back(16 * 1024);
  stack middle(16 * 1024);
  neighbours.emplace_back(16 * 1024);
  if (neighbours[0].top() > middle.bottom() || middle.top() > neighbours[1].bottom()) _exit(40);
  for (const stack& each : neighbours) std::memset(each.bottom(), 0x5a, each.bytes());
  asm_context other(&overflow, nullptr, std::move(middle));
  asm_context::switch_to(home, other);
}

void wild_access() {
  const stack one(64 * 1024);
  *reinterpret_cast<volatile char*>(one.bottom() - 100) = 1;
}

void elsewhere() {
  const stack one(64 * 1024);
  void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

asm_context* small;

// Leaves less than an unwinder needs of 2 KB.
[[gnu::noinline]] void suspend_deep(void* home) {
  char frame[1024];
  asm volatile("" : : "r"(frame) : "memory");  // needed here, and whole
  asm_context::switch_to(*small, *static_cast<asm_context*>(home));
  asm volatile("" : : "r"(frame) : "memory");
}

void no_room_to_unwind() {
  asm_context home;
  asm_context other(&suspend_deep, &home, stack(stack::minimum_bytes, stack_guard::none));
  small = &other;
  asm_context::switch_to(home, other);
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> ways = {
      {"strand", &in_strand},
      {"chosen", &in_strand_of_chosen_size},
      {"asm", &in_context<asm_context>},
      {"ucontext", &in_context<ucontext_context>},
      {"thread", &in_thread},
      {"between-neighbours", &between_neighbours},
      {"wild-access", &wild_access},
      {"elsewhere", &elsewhere},
      {"no-room-to-unwind", &no_room_to_unwind},
  };
  const auto way = ways.find(count == 2 ? arguments[1] : "");
  if (way == ways.end()) {
    std::fputs("usage: coop-overflow WAY\n", stderr);
    return 2;
  }
  way->second();
}
