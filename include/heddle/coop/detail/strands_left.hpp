#pragma once

#include <atomic>
#include <cstdint>

#include "heddle/coop/detail/own_thread.hpp"
#include "heddle/coop/ext/awaitable.hpp"

namespace heddle::coop::detail {

/// Strands that a run has left where they wait, by a deadlock for example. Their stacks and frames
/// may refer to locks, semaphores and the like that were declared behind the scheduler, and so go
/// before it: then the strands have to go first. See end_strands_left().
class strands_left {
 public:
  /// `end(of)` destroys the strands.
  strands_left(void (*end)(void* of) noexcept, void* of) noexcept : end_(end), of_(of) {}
  ~strands_left() { forget(); }
  strands_left(const strands_left&) = delete;
  strands_left& operator=(const strands_left&) = delete;

  /// A run on this thread, the one that has made this object, has ended, and left strands.
  void note() noexcept;
  /// They run again, or are destroyed.
  void forget() noexcept;

  /// Whether any thread has some.
  [[nodiscard]] static bool any() noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  /// Destroys those that runs on this thread have left.
  static void end_own() noexcept;

 private:
  static inline constinit std::atomic<std::uint32_t> count_{0};

  void (*end_)(void* of) noexcept;
  void* of_;
  own_thread thread_;
  bool noted_ = false;  // used by that thread alone
  strands_left* next_ = nullptr;
};

/// For the destructor of what strands use, before anything of it is gone. Strands that a run on
/// this thread has left are destroyed then, as by their scheduler's destructor, while what they
/// unlock, give back or close is still there. Nothing while a strand runs.
inline void end_strands_left() noexcept {
  if (strands_left::any() && this_strand() == nullptr) [[unlikely]] {
    strands_left::end_own();
  }
}

}  // namespace heddle::coop::detail
