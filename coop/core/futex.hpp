#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop::detail {

/// Sleeps while `word` is `expected`, until `limit` on the steady clock at most. May return early.
template <class Word>
void futex_wait(std::atomic<Word>& word, Word expected, std::optional<time_point> limit) noexcept {
  static_assert(sizeof(std::atomic<Word>) == sizeof(std::uint32_t));
  timespec until = {};
  if (limit) {
    const auto since_boot = std::max(duration::zero(), limit->time_since_epoch());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    until.tv_sec = seconds.count();
    until.tv_nsec = (since_boot - seconds).count();
  }
  // FUTEX_WAIT_BITSET, because its limit is a point in time, on CLOCK_MONOTONIC.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
          static_cast<std::uint32_t>(expected), limit ? &until : nullptr, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

/// Wakes the one that sleeps there.
template <class Word>
void futex_wake(std::atomic<Word>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace heddle::coop::detail
