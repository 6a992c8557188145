// Calls that a seed decides, the first argument: recursion of every kind, frames of changing size,
// tail calls, and from -O2 inlining.
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))
#define KEEP __asm__ volatile("" ::: "memory")  // no tail call

static unsigned state;
static int left = 300;

PLAIN static unsigned next(unsigned below) {
  state = state * 1664525 + 1013904223;
  return (state >> 16) % below;
}

static void plain(int depth);
static void grows(int depth);
static int gives(int depth);
static void jumps(int depth);
static void small(int depth);
static inline void again(int depth);

// In every caller anew, so that the optimiser sees the calls.
PLAIN __attribute__((always_inline)) static inline void call_some(int depth) {
  for (unsigned i = next(4); i > 0; i--) {
    if (left-- <= 0 || depth > 14) return;
    switch (next(6)) {
      case 0:
        plain(depth + 1);
        break;
      case 1:
        grows(depth + 1);
        break;
      case 2:
        (void)gives(depth + 1);
        break;
      case 3:
        jumps(depth + 1);
        break;
      case 4:
        small(depth + 1);
        break;
      default:
        again(depth + 1);
        break;
    }
  }
}

static void small(int depth) { left -= depth > 20; }
static void plain(int depth) {
  call_some(depth);
  KEEP;
}
static void grows(int depth) {
  call_some(depth);
  void* const room = __builtin_alloca(16 + next(20) * 16);
  __asm__ volatile("" : : "r"(room) : "memory");
  call_some(depth);
  KEEP;
}
static int gives(int depth) {
  small(depth);
  call_some(depth);
  return depth;
}
static void jumps(int depth) {
  small(depth);
  plain(depth + 1);
}
static inline void again(int depth) {
  if (left > 0 && next(3) != 0) again(depth);
  small(depth);
}

int main(int count, char** arguments) {
  state = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
  while (left > 0) call_some(0);
  return 0;
}
