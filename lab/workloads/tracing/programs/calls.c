/* Calls of one small function: as many events as are asked for, two each. */
#include "work.h"

__attribute__((noinline)) uint64_t step(uint64_t sum);

uint64_t step(uint64_t sum) { return sum * 6364136223846793005u + 1; }

uint64_t work(long rounds) {
  uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) sum = step(sum);
  return sum;
}
