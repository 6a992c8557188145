#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop {

class reactor;
struct message;

namespace detail {

/// Most turns that a scheduler runs before it looks at its timers: reading the clock costs more
/// than a switch.
inline constexpr std::uint32_t turns_between_timers = 64;

/// The group that a scheduler belongs to, as the scheduler sees it: other threads post to the group
/// what the scheduler is to do. A scheduler that runs alone has none. The layer `parallel`
/// implements it, once.
///
/// All calls but post() come from the scheduler's thread, outside of any strand or while one gives
/// way.
class scheduler_group {
 public:
  /// Called now and then while strands run: delivers what was posted. Returns after how many turns
  /// to call it again.
  virtual std::uint32_t look() noexcept = 0;

  /// Delivers what was posted; returns whether there was anything.
  virtual bool deliver() noexcept = 0;

  /// Called when nothing can run: waits until something was posted, and delivers it; or until
  /// `until`, or for `events`, if these are given. Returns false if nothing will ever be posted.
  virtual bool rest(std::optional<time_point> until, reactor* events) noexcept = 0;

  /// Has the scheduler deliver `posted`, soon. From any thread.
  virtual void post(message& posted) noexcept = 0;

  /// Which one it is among the groups that run together; for messages.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

 protected:
  explicit scheduler_group(std::size_t index) noexcept : index_(index) {}
  ~scheduler_group() = default;
  scheduler_group(const scheduler_group&) = delete;
  scheduler_group& operator=(const scheduler_group&) = delete;

 private:
  const std::size_t index_;
};

/// Brings a strand that leaves its scheduler to another one.
class strand_carrier {
 public:
  /// Has the other scheduler's arrive() called with the strand. From this call on another thread
  /// may run the strand, and destroy the carrier.
  virtual void post() noexcept = 0;

 protected:
  strand_carrier() = default;
  ~strand_carrier() = default;
  strand_carrier(const strand_carrier&) = delete;
  strand_carrier& operator=(const strand_carrier&) = delete;
};

}  // namespace detail
}  // namespace heddle::coop
