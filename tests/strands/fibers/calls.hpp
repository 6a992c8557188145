// Calls of every kind, in which a fiber may give way. Chance decides.
#pragma once

#include <alloca.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>

#include "../chance.hpp"
#include "library.hpp"

namespace calls {

/// Switches for what calls may do; a scenario leaves out the ones for which its stacks are too
/// small.
inline bool may_throw = true, may_sort = true, may_raise = false;

TRACED inline void give_way() {
  const truth::call here{"give_way"};
  library::give_way();
  here.back();
  if (chance(2) == 0) truth::point();
}

TRACED inline void leaf() {
  const truth::call here{"leaf"};
  if (chance(8) == 0) give_way();
}

TRACED inline int compares(const void* a, const void* b) {
  const truth::call here{"compares"};
  if (chance(4) == 0) leaf();
  here.back();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

/// Called back through a library that is not traced.
TRACED inline void sorts() {
  const truth::call here{"sorts"};
  int numbers[6];
  for (int& number : numbers) number = static_cast<int>(chance(100));
  std::qsort(numbers, 6, sizeof numbers[0], compares);
  here.back();
}

/// Its stack pointer is elsewhere at its exit than at its enter.
TRACED inline void grows(unsigned bytes) {
  const truth::call here{"grows"};
  auto* const more = static_cast<volatile char*>(alloca(bytes + 1));
  more[0] = 1;
  more[bytes] = 1;
  leaf();
  here.back();
  if (more[0] != more[bytes]) std::abort();
}

TRACED inline void throws(unsigned depth) {
  const truth::call here{"throws"};
  if (chance(3) == 0) give_way();
  if (depth != 0) {
    throws(depth - 1);
  } else if (chance(4) != 0) {
    throw depth;
  }
}

TRACED inline void catches() {
  const truth::call here{"catches"};
  try {
    throws(chance(4));
  } catch (unsigned) {
    here.back();
  }
  if (chance(2) == 0) leaf();
}

/// Not inlined: nothing in a trace would say that a part of a frame was left.
TRACED __attribute__((noinline)) inline void jumps(std::jmp_buf& to, unsigned depth) {
  const truth::call here{"jumps"};
  if (chance(3) == 0) give_way();
  if (depth != 0) {
    jumps(to, depth - 1);
  } else if (chance(4) != 0) {
    std::longjmp(to, 1);
  }
}

TRACED inline void lands() {
  const truth::call here{"lands"};
  std::jmp_buf place;
  if (setjmp(place) == 0) jumps(place, chance(4));
  here.back();
  if (chance(2) == 0) leaf();
}

TRACED inline int takes(int number) {
  const truth::call here{"takes"};
  if (chance(3) == 0) give_way();
  return number + 1;
}

/// A tail call, where the compiler makes it one that the hooks show: then this call ends first.
TRACED inline int hands_on(int number) {
#ifdef TRUTH_TAIL_CALLS
  { const truth::call here{"hands_on"}; }
#else
  const truth::call here{"hands_on"};
#endif
  return takes(number);
}

TRACED inline void handler(int) {
  const truth::call here{"handler"};
  truth::point();
}

/// A signal, whose handler runs on another stack, but in the same strand.
TRACED inline void raises() {
  const truth::call here{"raises"};
  static thread_local char stack[65536];
  const stack_t alternate{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&alternate, nullptr) != 0 || sigaction(SIGUSR1, &action, nullptr) != 0 ||
      raise(SIGUSR1) != 0) {
    std::abort();
  }
  here.back();
}

TRACED inline void work(unsigned depth) {
  const truth::call here{"work"};
  for (unsigned i = chance(3) + 1; i != 0; --i) {
    switch (chance(10)) {
      case 0:
      case 1:
        give_way();
        break;
      case 2:
        if (may_sort) sorts();
        break;
      case 3:
        grows(chance(200));
        break;
      case 4:
        if (may_throw) catches();
        break;
      case 5:
        lands();
        break;
      case 6:
        hands_on(static_cast<int>(depth));
        break;
      case 7:
        if (may_raise) raises();
        break;
      default:
        if (depth > 0) work(depth - 1);
        break;
    }
    here.back();
  }
}

}  // namespace calls
