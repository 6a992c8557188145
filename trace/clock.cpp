#include "clock.hpp"

namespace heddle::trace {

constinit bool clock_is_tsc = false;

namespace {
constinit bool chosen = false;
constinit std::uint64_t hz = 0;
}  // namespace

void choose_clock() {
  if (chosen) return;
  clock_is_tsc = arch::tsc_is_invariant();
  hz = clock_is_tsc ? arch::tsc_hz() : 1'000'000'000u;
  chosen = true;
}

std::uint64_t ticks_per_second() { return hz; }

Stamp stamp_now() {
  // Preemption anywhere between the readings would tear a stamp apart: the tightest of three is
  // taken, from its first reading to its last.
  Stamp best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t before = ticks();
    const std::uint64_t raw = sys::nanoseconds(CLOCK_MONOTONIC_RAW);
    const std::uint64_t after = ticks();
    const std::uint64_t real = sys::nanoseconds(CLOCK_REALTIME);
    const std::uint64_t raw_again = sys::nanoseconds(CLOCK_MONOTONIC_RAW);
    const std::uint64_t width = ticks() - before;
    if (width < narrowest) {
      narrowest = width;
      // CLOCK_REALTIME was read halfway between the two raw readings.
      best = {before + (after - before) / 2, real - (raw_again - raw) / 2, raw};
    }
  }
  return best;
}

}  // namespace heddle::trace
