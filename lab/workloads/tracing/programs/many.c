/* 1600 functions, each called in turn: as many as bash, python3 and perl of Debian 12 have in their
 * dynamic symbol tables (1470 to 1760), which are linked with -rdynamic. What looks names up with
 * dladdr() reads that whole table each time. */
#include "work.h"

/* clang-format off */
#define CALLEE(n) \
  uint64_t callee_##n(uint64_t sum); \
  __attribute__((noinline)) uint64_t callee_##n(uint64_t sum) { return sum * 31 + 0x1##n; }
#define NAME(n) callee_##n,

#define TEN(each, n) \
  each(n##0) each(n##1) each(n##2) each(n##3) each(n##4) \
  each(n##5) each(n##6) each(n##7) each(n##8) each(n##9)
#define HUNDRED(each, n) \
  TEN(each, n##0) TEN(each, n##1) TEN(each, n##2) TEN(each, n##3) TEN(each, n##4) \
  TEN(each, n##5) TEN(each, n##6) TEN(each, n##7) TEN(each, n##8) TEN(each, n##9)
#define ALL(each) \
  HUNDRED(each, 0) HUNDRED(each, 1) HUNDRED(each, 2) HUNDRED(each, 3) \
  HUNDRED(each, 4) HUNDRED(each, 5) HUNDRED(each, 6) HUNDRED(each, 7) \
  HUNDRED(each, 8) HUNDRED(each, 9) HUNDRED(each, a) HUNDRED(each, b) \
  HUNDRED(each, c) HUNDRED(each, d) HUNDRED(each, e) HUNDRED(each, f)
/* clang-format on */

ALL(CALLEE)

static uint64_t (*const callees[])(uint64_t) = {ALL(NAME)};

enum { count = sizeof callees / sizeof callees[0] };

uint64_t work(long rounds) {
  uint64_t sum = 0;
  for (long i = 0; i < rounds * 16; ++i) sum = callees[i * 1009 % count](sum);
  return sum;
}
