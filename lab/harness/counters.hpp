#pragma once

#include <cstdint>

namespace heddle::lab {

/// Counters of a run's operations, incremented where each is done. Each thread has its own, so that
/// counting shares no cache line.
struct counters {
  std::uint64_t strand_switches = 0;       ///< hand-overs that a model's own code made
  std::uint64_t p_operations = 0;          ///< lock operations and waits
  std::uint64_t blocked_p_operations = 0;  ///< those of them that had to wait
  std::uint64_t allocations = 0;           ///< calls of operator new; counted by the harness

  counters& operator+=(const counters& other) noexcept;
  counters& operator-=(const counters& other) noexcept;
};

namespace detail {
inline constinit thread_local counters* of_this_thread = nullptr;
counters* register_this_thread() noexcept;
}  // namespace detail

/// The calling thread's counters.
inline counters& count() noexcept {
  if (detail::of_this_thread == nullptr) detail::of_this_thread = detail::register_this_thread();
  return *detail::of_this_thread;
}

/// The sum over all threads there ever were. Exact once those that count have been joined.
[[nodiscard]] counters counted_so_far() noexcept;

}  // namespace heddle::lab
