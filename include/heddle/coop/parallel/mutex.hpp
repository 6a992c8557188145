#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/remote_wait.hpp"

namespace heddle::coop::parallel {

/// Mutual exclusion of strands of several groups, across waits. Not recursive. As coop::mutex:
/// first come, first served among those that wait. Exclusive, whatever std::shared_mutex may be.
///
///     co_await m.lock();
///     const std::lock_guard guard(m, std::adopt_lock);
class mutex {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public coop::detail::awaitable<lock_awaitable> {
   public:
    explicit lock_awaitable(mutex & its_mutex) noexcept : mutex_(its_mutex) {}
    bool ready() const noexcept { return mutex_.try_lock() || mutex_.lock_soon(); }
    void park(coop::detail::strand_block & self) {
      mutex_.park(wait_.make("mutex", mutex_.name_), self);
    }
    void get() const noexcept {}

   private:
    mutex& mutex_;
    detail::made_at_park<detail::remote_wait> wait_;
  };

  /// `name` is for the report of a deadlock.
  explicit mutex(std::string name = {}) : name_(std::move(name)) {}
  /// It may go as soon as it can be locked: the unlock() calls need not have returned.
  ~mutex() { lock_.lock(); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Suspends while it is locked, also after a short look-out; made ready by the unlock() that
  /// hands it over: inside that call if that is by a strand of its group, else in its own group,
  /// soon after, by a message. Timed out or cancelled while the message is under way: it is locked.
  /// Destroyed while it waits: it is out of the queue.
  lock_awaitable lock() noexcept { return lock_awaitable(*this); }

  [[nodiscard("not locked if false")]] bool try_lock() noexcept {
    std::uint32_t seen = unlocked;
    return state_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  /// By the strand that locked it. Never waits, and does not switch.
  void unlock() noexcept {
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

  bool lock_soon() noexcept {
    group* const here = group::current();
    return here != nullptr && here->spin_for([this] {
      return state_.load(std::memory_order_relaxed) == unlocked && try_lock();
    });
  }
  void park(detail::remote_wait& wait, coop::detail::strand_block& self);
  void hand_over() noexcept;

  alignas(detail::line_bytes) std::atomic<std::uint32_t> state_{unlocked};
  detail::spin_lock lock_;  // of the queue, and of changes from and to `wanted`
  detail::wait_queue queue_{lock_};
  std::string name_;
};

}  // namespace heddle::coop::parallel
