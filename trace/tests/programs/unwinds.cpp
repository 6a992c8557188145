// Leaves calls by exceptions, through instrumented frames and ones that are not (qsort's), with
// destructors on the way, and by longjmp. Prints its calls, those left by an exception, and those
// left by longjmp.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include "shape.h"

namespace {

volatile long calls, thrown, jumped;
std::jmp_buf back;

CALL void touch() { calls = calls + 1; }

struct Guard {
  PLAIN Guard() {}
  PLAIN ~Guard() { touch(); }
};

CALL void deeper(int depth, bool jump) {
  calls = calls + 1;
  if (depth == 0) {
    if (jump) {
      jumped = jumped + 11;
      std::longjmp(back, 1);
    }
    thrown = thrown + 11;
    throw depth;
  }
  if (jump) {
    deeper(depth - 1, jump);
  } else {
    const Guard guard;
    deeper(depth - 1, jump);
  }
  asm volatile("");  // no tail call
}

CALL int compare(const void*, const void*) {
  calls = calls + 1;
  thrown = thrown + 1;
  deeper(10, false);
  return 0;
}

CALL void catch_one(bool through_qsort) {
  calls = calls + 1;
  try {
    int numbers[4] = {4, 3, 2, 1};
    if (through_qsort) {
      std::qsort(numbers, 4, sizeof *numbers, compare);
    } else {
      deeper(10, false);
    }
  } catch (int) {
    touch();
  }
}

}  // namespace

PLAIN int main() {
  static int i;  // longjmp leaves it alone
  for (i = 0; i < 100; ++i) {
    catch_one(false);
    catch_one(true);
    if (setjmp(back) == 0) deeper(10, true);
    touch();
  }
  std::printf("%ld %ld %ld\n", calls, thrown, jumped);
  return 0;
}
