#pragma once

#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

/// Mutual exclusion across waits; between waits a strand is alone anyway. Not recursive. First
/// come, first served: unlock() hands it to the strand that has waited the longest.
///
///     co_await m.lock();
///     const std::lock_guard guard(m, std::adopt_lock);
class mutex {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public detail::awaitable<lock_awaitable> {
   public:
    explicit lock_awaitable(mutex & its_mutex) noexcept : mutex_(its_mutex) {}
    bool ready() const noexcept { return mutex_.try_lock(); }
    void park(detail::strand_block & self) noexcept {
      detail::wait_in(self, node_, mutex_.waiters_);
    }
    void get() const noexcept {}

   private:
    mutex& mutex_;
    detail::wait_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit mutex(std::string name = {}) : name_(std::move(name)), waiters_("mutex", name_) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Suspends while it is locked; made ready by the unlock() that hands it over, inside that call,
  /// on this thread. Destroyed while it waits: it is out of the queue.
  lock_awaitable lock() noexcept { return lock_awaitable(*this); }

  [[nodiscard("not locked if false")]] bool try_lock() noexcept {
    return !std::exchange(locked_, true);
  }

  /// By the strand that locked it. Never waits, and does not switch.
  void unlock() {
    if (!waiters_.empty()) {
      scheduler_access::wake_first(waiters_);  // stays locked, by that one
    } else {
      locked_ = false;
    }
  }

  [[nodiscard]] bool locked() const noexcept { return locked_; }

  /// For those who write awaitables: the strand of a node that is in no list gets the lock, now or
  /// when its turn has come, and is made ready then.
  void lock_for(detail::wait_node& node) {
    if (try_lock()) {
      node.who->waits = nullptr;
      scheduler_access::make_ready(*node.who);
    } else {
      detail::wait_in(*node.who, node, waiters_);
    }
  }

 private:
  bool locked_ = false;
  std::string name_;
  detail::wait_list waiters_;
};

}  // namespace heddle::coop
