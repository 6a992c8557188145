#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::coop::parallel::detail {

/// The least that can be known to lie in one cache line alone: what a group writes often, and
/// others read, is on lines of its own.
inline constexpr std::size_t line_bytes = 64;
/// A cache line that no thread accesses.
struct spare_line {
  std::byte unused[line_bytes];
};

/// Tells the processor that this is a loop which waits for another one: it takes less power, and
/// leaves more to its sibling.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// For a few instructions on what several groups share. Gives its processor away where it has to
/// wait for long: the thread that holds it may not be running.
class spin_lock {
 public:
  void lock() noexcept {
    for (std::uint32_t tries = 1; locked_.exchange(true, std::memory_order_acquire); ++tries) {
      while (locked_.load(std::memory_order_relaxed)) {
        if (tries++ % spins_before_yield == 0) sched_yield();
        pause();
      }
    }
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr std::uint32_t spins_before_yield = 1024;
  std::atomic<bool> locked_{false};
};

}  // namespace heddle::coop::parallel::detail
