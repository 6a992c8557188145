// The trace's clock and the stamps that tie it to the time of day.
#pragma once

#include "format.hpp"
#include "sys.hpp"

namespace heddle::trace {

/// Whether ticks are the TSC's; a constant of the machine, so every process of a trace agrees.
extern bool clock_is_tsc;

/// Decides the clock, once per program image (CPUID is slow in a virtual machine).
void choose_clock();

/// The TSC's stated rate in Hz, 1e9 for CLOCK_MONOTONIC_RAW, 0 = not stated.
[[nodiscard]] std::uint64_t ticks_per_second();

/// The time now, in ticks.
inline std::uint64_t ticks() {
  if (clock_is_tsc) [[likely]]
    return arch::read_tsc();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);  // through the vDSO: no system call, errno untouched
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

[[nodiscard]] Stamp stamp_now();

}  // namespace heddle::trace
