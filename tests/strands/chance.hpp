// Chances that are the same for the same seed, for each thread of its own.
#pragma once

#include "truth.hpp"

/// A number below `bound`, which is not 0. Asked anew each time, as truth::running().
PLAIN __attribute__((noipa)) inline unsigned chance(unsigned bound, unsigned long seed = 0) {
  static thread_local unsigned long state = 0x9e3779b97f4a7c15;
  if (seed != 0) state = seed * 0x9e3779b97f4a7c15;
  // xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return static_cast<unsigned>((state * 0x2545f4914f6cdd1d) >> 33) % bound;
}
