// longjmp out of a recursion, back to an outer call of the same function. What that calls next has
// a smaller or a larger frame than the calls that are gone: its stack pointer does not tell which
// call has made it.
#include <setjmp.h>

#define OUT_OF_LINE __attribute__((noinline))

static jmp_buf back;
static volatile int calls;

OUT_OF_LINE static void small(void) { calls++; }

OUT_OF_LINE static void large(int at) {
  volatile char bytes[512];
  bytes[at] = 1;
  calls += bytes[at];
}

OUT_OF_LINE static void leap(void) {
  calls++;
  longjmp(back, 1);
}

OUT_OF_LINE static void climb(int level, int large_first) {
  if (level == 0) {
    leap();
  } else if (level < 3) {
    climb(level - 1, large_first);
  } else if (setjmp(back) == 0) {
    climb(level - 1, large_first);
  } else if (large_first) {
    large(1);
    small();
  } else {
    small();
    large(1);
  }
  calls++;
}

int main(void) {
  climb(3, 1);
  climb(3, 0);
  small();
  large(1);
  return calls == 10 ? 0 : 1;
}
