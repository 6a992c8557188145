#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/remote_wait.hpp"
#include "heddle/coop/sync/held_lock.hpp"

namespace heddle::coop::parallel {

/// Mutual exclusion of strands of several groups, across waits. Not recursive. As coop::mutex:
/// first come, first served among those that wait. Exclusive, whatever std::shared_mutex may be.
///
///     auto guard = co_await m.scoped_lock();      // in a fiber: await(m.scoped_lock())
class mutex {
 public:
  using guard = held_lock<mutex>;

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public coop::detail::awaitable<lock_awaitable> {
   public:
    explicit lock_awaitable(mutex & its_mutex) noexcept : mutex_(its_mutex) {}
    bool ready() const noexcept { return mutex_.take() || mutex_.take_soon(); }
    void park(coop::detail::strand_block & self) {
      mutex_.park(wait_.make("mutex", mutex_.name_), self);
    }
    guard get() const noexcept {
      mutex_.note_holder();
      return guard(mutex_);
    }

   private:
    mutex& mutex_;
    detail::made_at_park<detail::remote_wait> wait_;
  };

  /// `name` is for the report of a deadlock.
  explicit mutex(std::string name = {}) : name_(std::move(name)) {}
  /// It may go as soon as it can be locked: the unlock() calls need not have returned.
  ~mutex() {
    coop::detail::end_strands_left();
    lock_.lock();
  }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Locks it, and results in a guard that unlocks it, from whichever group the strand is in then.
  /// Suspends while it is locked, also after a short look-out; made ready by the unlock() that
  /// hands it over: inside that call if that is by a strand of its group, else in its own group,
  /// soon after, by a message. Timed out or cancelled while the message is under way: it is locked.
  /// Destroyed while it waits: it is out of the queue.
  lock_awaitable scoped_lock() noexcept { return lock_awaitable(*this); }

  // std::lock_guard would call it, and lock nothing, as a lock has to be waited for.
  void lock() = delete;  // instead: auto guard = co_await m.scoped_lock(); in a fiber: await(…)

  [[nodiscard("not locked if false")]] bool try_lock() noexcept {
    if (!take()) return false;
    note_holder();
    return true;
  }

  /// By the strand that locked it; by another one, or of a mutex that is not locked, it ends the
  /// program with a message that names both. Never waits, and does not switch.
  void unlock() noexcept {
    if (holder_.load(std::memory_order_relaxed) != coop::detail::this_strand()) [[unlikely]] {
      check_holder();
    }
    holder_.store(nullptr, std::memory_order_relaxed);
    std::uint32_t seen = locked;
    if (!state_.compare_exchange_strong(seen, unlocked, std::memory_order_release,
                                        std::memory_order_relaxed)) {
      hand_over();
    }
  }

 private:
  static constexpr std::uint32_t unlocked = 0;
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t wanted = 2;  // locked, and strands may be queued

  bool take() noexcept {
    std::uint32_t seen = unlocked;
    return state_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  bool take_soon() noexcept {
    group* const here = group::current();
    return here != nullptr && here->spin_for([this] {
      return state_.load(std::memory_order_relaxed) == unlocked && take();
    });
  }
  void park(detail::remote_wait& wait, coop::detail::strand_block& self);
  void hand_over() noexcept;
  // Once the running strand has it.
  void note_holder() noexcept {
    holder_.store(coop::detail::this_strand(), std::memory_order_relaxed);
    holder_number_.store(scheduler_access::running_number(), std::memory_order_relaxed);
    holder_group_.store(group::current(), std::memory_order_relaxed);
  }
  void check_holder() const noexcept;

  alignas(detail::line_bytes) std::atomic<std::uint32_t> state_{unlocked};
  detail::spin_lock lock_;  // of the queue, and of changes from and to `wanted`
  detail::wait_queue queue_{lock_};
  // The strand that has locked it, written by itself; null: code outside of strands, or one that is
  // about to get it. The block of a strand stays the same when the strand moves, its number does
  // not; so the number and the group, which are for the message, are those that it had.
  std::atomic<const coop::detail::strand_block*> holder_{nullptr};
  std::atomic<std::uint64_t> holder_number_{0};
  std::atomic<const group*> holder_group_{nullptr};
  std::string name_;
};

}  // namespace heddle::coop::parallel
