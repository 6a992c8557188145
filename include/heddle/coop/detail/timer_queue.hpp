#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop {

/// Time on a scheduler's clock: since the machine started if it is real, since the scheduler was
/// made if it is virtual.
using time_point = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using duration = std::chrono::nanoseconds;

namespace detail {

/// A length of time of any unit, as parameters take it: what is longer than a `duration` can say is
/// the longest. (The conversion of std::chrono would overflow: of hours::max() into less than
/// nothing.)
class length {
 public:
  template <class Rep, class Period>
  constexpr length(std::chrono::duration<Rep, Period> of_any_unit) noexcept  // NOLINT: converts
      : value_(saturated(of_any_unit)) {}
  constexpr operator duration() const noexcept { return value_; }  // NOLINT: converts

 private:
  template <class Rep, class Period>
  static constexpr duration saturated(std::chrono::duration<Rep, Period> given) noexcept {
    using wide = std::chrono::duration<long double, duration::period>;
    if (wide(given) >= wide(duration::max())) return duration::max();
    if (wide(given) <= wide(duration::min())) return duration::min();
    return std::chrono::duration_cast<duration>(given);
  }

  duration value_;
};

/// So long after `now`, which is not negative; time_point::max() if it cannot be said, `now` if
/// `length` is negative.
inline time_point later(time_point now, duration length) noexcept {
  if (length < duration::zero()) return now;
  return length < time_point::max() - now ? now + length : time_point::max();
}

/// Strands by the time at which they are to be woken, equal times in the order they were added.
/// A binary heap; adding and removing take O(log n).
class timer_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// The time of the earliest timer; not if empty().
  [[nodiscard]] time_point earliest() const noexcept { return heap_.front().at; }
  [[nodiscard]] strand_block& first() const noexcept { return *heap_.front().who; }

  void add(strand_block& strand, time_point at);
  /// When a strand that is in it is to be woken.
  [[nodiscard]] time_point deadline(const strand_block& strand) const noexcept {
    return heap_[strand.rare->timer].at;
  }
  void remove(strand_block& strand) noexcept;

 private:
  struct entry {
    time_point at;
    std::uint64_t order;
    strand_block* who;
    bool operator<(const entry& other) const noexcept {
      return at != other.at ? at < other.at : order < other.order;
    }
  };

  void place(std::size_t index, const entry& value) noexcept;
  void rise(std::size_t index, const entry& value) noexcept;
  void sink(std::size_t index, const entry& value) noexcept;

  std::vector<entry> heap_;
  std::uint64_t added_ = 0;
};

}  // namespace detail
}  // namespace heddle::coop
