#pragma once

#include <cstdint>

namespace heddle::lab {

namespace detail {
inline constexpr std::uint64_t multiplier = 6364136223846793005U;  // Knuth's MMIX generator
inline constexpr std::uint64_t increment = 1442695040888963407U;
}  // namespace detail

/// The work of the Euro-Par programs: "iterations of some computational loop". Each waits for the
/// one before, about 2 ns. `checkpoint()` is called on the back edge: where the model may switch.
/// Returns what it computed from `value`.
template <class Checkpoint>
std::uint64_t work_loop(std::uint64_t value, std::int64_t iterations, Checkpoint&& checkpoint) {
  for (std::int64_t i = 0; i < iterations; ++i) {
    value = value * detail::multiplier + detail::increment;
    checkpoint();
  }
  return value;
}

/// For models whose strands are switched by the kernel, or only where they wait.
inline constexpr auto no_checkpoint = [] {};

/// The result of work_loop(), computed in O(log iterations), for oracles. n iterations are one of
/// another multiplier and increment, composed here by squaring.
[[nodiscard]] constexpr std::uint64_t after_work(std::uint64_t value, std::uint64_t iterations) {
  std::uint64_t multiplier = detail::multiplier;
  std::uint64_t increment = detail::increment;
  for (; iterations != 0; iterations >>= 1) {
    if ((iterations & 1) != 0) value = value * multiplier + increment;
    increment = (multiplier + 1) * increment;
    multiplier *= multiplier;
  }
  return value;
}

}  // namespace heddle::lab
