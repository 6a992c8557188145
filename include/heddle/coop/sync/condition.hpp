#pragma once

#include <string>
#include <utility>

#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/sync/mutex.hpp"

namespace heddle::coop {

/// A condition variable, for monitors: wait() gives the mutex away while it waits. No wait ends
/// without a notification, a timeout or a cancellation, but others may run before the mutex is had
/// again: test what was waited for in a loop.
class condition {
  struct condition_node : detail::wait_node {
    mutex* lock = nullptr;
  };

 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] wait_awaitable
      : public detail::awaitable<wait_awaitable> {
   public:
    wait_awaitable(condition & on, mutex & lock) noexcept : on_(on) { node_.lock = &lock; }
    bool ready() const noexcept { return false; }
    void park(detail::strand_block & self) {
      detail::wait_in(self, node_, on_.waiters_);
      node_.lock->unlock();
    }
    void get() const noexcept {}

   private:
    condition& on_;
    condition_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit condition(std::string name = {})
      : name_(std::move(name)), waiters_("condition", name_, &given_up) {}
  ~condition() { detail::end_strands_left(); }
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;

  /// Gives `lock` away, which the caller holds, waits for a notification, and has it again when it
  /// ends, in whatever way: a timeout or a cancellation too waits until it has the mutex, so that a
  /// guard on the way can unlock it.
  /// Suspends always; made ready by a notification or by the unlock() after it, inside that call,
  /// on this thread. Destroyed while it waits: it does not have the mutex again.
  wait_awaitable wait(mutex& lock) noexcept { return wait_awaitable(*this, lock); }

  /// Ends the longest wait, if there is one. Does not switch.
  void notify_one() {
    if (!waiters_.empty()) notify(*waiters_.first());
  }
  /// Ends all waits.
  void notify_all() {
    while (!waiters_.empty()) notify(*waiters_.first());
  }

 private:
  void notify(detail::wait_node& node) {
    waiters_.remove(node);
    scheduler_access::drop_timer(*node.who);
    lock_again(node);
  }
  static bool given_up(detail::wait_list&, detail::wait_node& node) {
    lock_again(node);
    return true;
  }
  // From here on the wait is for the mutex, and nothing may end it before.
  static void lock_again(detail::wait_node& node) {
    node.who->shielded = true;
    static_cast<condition_node&>(node).lock->lock_for(node);
  }

  std::string name_;
  detail::wait_list waiters_;
};

}  // namespace heddle::coop
