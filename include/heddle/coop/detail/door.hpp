#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"
#include "heddle/coop/ext/inbox.hpp"

namespace heddle::coop {

class reactor;
class scheduler;

namespace detail {

/// By which other threads reach a scheduler that runs alone: what they have posted, and its sleep,
/// which they end. (One of a group has that group's instead.)
class door {
 public:
  door() = default;
  /// It may go as soon as what was posted has been delivered: the post() calls need not have
  /// returned.
  ~door();
  door(const door&) = delete;
  door& operator=(const door&) = delete;

  /// From any thread; never waits. Costs one system call if the scheduler sleeps.
  void post(message& posted) noexcept {
    posting_.fetch_add(1, std::memory_order_relaxed);
    // A sleeper says that it sleeps, then looks into the inbox; we do the opposite, and all four
    // are seq_cst: one of the two sees the other.
    if (inbox_.push(posted) && state_.load(std::memory_order_seq_cst) != state::awake) wake();
    posting_.fetch_sub(1, std::memory_order_release);  // the last that is done to the door
  }

  // On the scheduler's thread.

  [[nodiscard]] bool empty() const noexcept { return inbox_.empty(); }
  /// Delivers what was posted, or throws it away if `to` is null; returns whether there was any.
  bool deliver(scheduler* to) noexcept;
  /// Sleeps until something is posted, or until `until`, or for `events`, if these are given. May
  /// return early. `expects_posts`: that something will be posted is likely; then a reactor that
  /// cannot be interrupted is waited in for short times only.
  void sleep(std::optional<time_point> until, reactor* events, bool expects_posts);

 private:
  enum class state : std::uint32_t {
    awake,
    asleep,        // on the futex of this word
    in_reactor,    // in reactor::wait()
    interrupting,  // somebody is ending that by reactor::interrupt()
  };

  void wake() noexcept;
  void sleep_in(reactor& events, std::optional<time_point> until, bool expects_posts);

  inbox inbox_;
  std::atomic<state> state_{state::awake};
  std::atomic<reactor*> reactor_{nullptr};  // while in_reactor
  std::atomic<std::uint32_t> posting_{0};   // threads that are in post()
};

}  // namespace detail
}  // namespace heddle::coop
