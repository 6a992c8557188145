/* Nothing but calls: the most that a recorder can be asked for. */
#include "work.h"

/* Not static, for the sake of hooks that look names up with dladdr(). */
uint64_t add(uint64_t a, uint64_t b);
uint64_t fib(unsigned n);

uint64_t add(uint64_t a, uint64_t b) { return a + b; }

uint64_t fib(unsigned n) { return n < 2 ? n : add(fib(n - 1), fib(n - 2)); }

uint64_t work(long rounds) {
  uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) {
    unsigned n = 16;
    __asm__ volatile("" : "+r"(n)); /* not to be computed once and for all */
    sum += fib(n);
  }
  return sum;
}
