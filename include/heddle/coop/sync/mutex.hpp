#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/sync/held_lock.hpp"

namespace heddle::coop {

/// Mutual exclusion across waits; between waits a strand is alone anyway. Not recursive. First
/// come, first served: unlock() hands it to the strand that has waited the longest.
///
///     auto guard = co_await m.scoped_lock();      // in a fiber: await(m.scoped_lock())
class mutex {
 public:
  using guard = held_lock<mutex>;

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public detail::awaitable<lock_awaitable> {
   public:
    explicit lock_awaitable(mutex & its_mutex) noexcept : mutex_(its_mutex) {}
    bool ready() const noexcept { return mutex_.try_lock(); }
    void park(detail::strand_block & self) noexcept {
      if (mutex_.holder_ == scheduler_access::id(self)) [[unlikely]] {
        detail::relocked("mutex", mutex_.name_);
      }
      detail::wait_in(self, node_, mutex_.waiters_);
    }
    guard get() const noexcept { return guard(mutex_); }

   private:
    mutex& mutex_;
    detail::wait_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit mutex(std::string name = {}) : name_(std::move(name)), waiters_("mutex", name_) {}
  /// By a strand, while one holds it: ends the program with that one's name.
  ~mutex() {
    detail::end_strands_left();
    if (locked()) [[unlikely]] {
      detail::destroyed_locked("mutex", name_, holder_);
    }
  }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Locks it, and results in a guard that unlocks it. By the strand that has locked it already, it
  /// ends the program with that strand's name.
  /// Suspends while it is locked; made ready by the unlock() that hands it over, inside that call,
  /// on this thread. Destroyed while it waits: it is out of the queue.
  lock_awaitable scoped_lock() noexcept { return lock_awaitable(*this); }

  // std::lock_guard would call it, and lock nothing, as a lock has to be waited for.
  void lock() = delete;  // instead: auto guard = co_await m.scoped_lock(); in a fiber: await(…)

  [[nodiscard("not locked if false")]] bool try_lock() noexcept {
    if (holder_ != detail::nobody) return false;
    holder_ = scheduler_access::running_number();
    return true;
  }

  /// By the strand that locked it; by another one, or of a mutex that is not locked, it ends the
  /// program with the names of both. Never waits, and does not switch.
  void unlock() {
    if (holder_ != scheduler_access::running_number()) [[unlikely]] {
      if (!detail::check_holder("mutex", name_, holder_)) return;
    }
    if (!waiters_.empty()) {
      holder_ = scheduler_access::id(*waiters_.first()->who);
      scheduler_access::wake_first(waiters_);  // stays locked, by that one
    } else {
      holder_ = detail::nobody;
    }
  }

  [[nodiscard]] bool locked() const noexcept { return holder_ != detail::nobody; }

  /// For those who write awaitables: the strand of a node that is in no list gets the lock, now or
  /// when its turn has come, and is made ready then.
  void lock_for(detail::wait_node& node) {
    if (!locked()) {
      holder_ = scheduler_access::id(*node.who);
      node.who->waits = nullptr;
      scheduler_access::make_ready(*node.who);
    } else {
      detail::wait_in(*node.who, node, waiters_);
    }
  }

 private:
  std::uint64_t holder_ = detail::nobody;  // the number of the strand that has locked it
  std::string name_;
  detail::wait_list waiters_;
};

}  // namespace heddle::coop
