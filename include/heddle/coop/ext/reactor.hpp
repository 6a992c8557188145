#pragma once

#include <cstdint>
#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop {

/// Where a scheduler's events from outside come from: the kernel, other threads. It is asked now
/// and then while strands run, and is what the scheduler waits in when none can. For those who
/// write one; io::service is one.
///
/// All calls but interrupt() come from the scheduler's thread, outside of any strand.
class reactor {
 public:
  /// The kind of events that strands wait for in this reactor.
  enum class expectation : std::uint8_t {
    nothing,
    open_ended,  // events that need not come: a byte in a pipe
    prompt,      // at least one that comes by itself, soon: a read of a file
  };

  [[nodiscard]] virtual expectation expected() const noexcept = 0;

  /// Wakes the strands whose events have come, and does not wait. Returns whether it woke any.
  virtual bool poll() = 0;

  /// Called about every 64 turns, while anything is expected: poll(), unless strands have waited
  /// here since the last time.
  virtual void keep_up() = 0;

  /// Like poll(), but first waits for an event, until `limit` on the steady clock at most. May
  /// return early.
  virtual void wait(std::optional<time_point> limit) = 0;

  /// Makes the wait() that is in progress return early, or else the next one. From any thread,
  /// while the reactor is attached; never waits. For schedulers that others can wake: see
  /// parallel/groups.hpp.
  virtual void interrupt() noexcept {}
  /// Whether interrupt() does that. If not, wait() is called for short times only where others may
  /// wake the scheduler.
  [[nodiscard]] virtual bool interruptible() const noexcept { return false; }

  /// The scheduler is being destroyed; its strands are gone already.
  virtual void scheduler_gone() noexcept = 0;

 protected:
  reactor() = default;
  ~reactor() = default;
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
};

}  // namespace heddle::coop
