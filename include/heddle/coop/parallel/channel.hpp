#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/ring.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/remote_wait.hpp"

namespace heddle::coop::parallel {

/// A bounded queue of values between strands of several groups. As coop::channel: first come, first
/// served on both sides; capacity 0 is a rendezvous; after close() what is in it can still be
/// popped. Moving a T must not throw, and happens under a lock that others spin for: hand on a
/// pointer to what is large.
template <class T>
class channel {
  struct push_wait final : detail::remote_wait {
    using remote_wait::remote_wait;
    T* value = nullptr;  // still the pusher's
    bool sent = false;
  };
  struct pop_wait final : detail::remote_wait {
    using remote_wait::remote_wait;
    std::optional<T> value;
  };

 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] push_awaitable
      : public coop::detail::awaitable<push_awaitable> {
   public:
    push_awaitable(channel & to, T && value) noexcept : to_(to), value_(std::move(value)) {}
    bool ready() { return try_it() || (to_.spins(&channel::seems_to_have_room) && try_it()); }
    void park(coop::detail::strand_block & self) {
      push_wait& wait = wait_.make("room in channel", to_.name_);
      wait.value = std::addressof(value_);
      wait.park(self);
      parked_ = &wait;
      to_.park(wait);
    }
    bool get() const noexcept { return parked_ != nullptr ? parked_->sent : sent_; }

   private:
    bool try_it() { return to_.try_push(value_, sent_); }

    channel& to_;
    T value_;
    bool sent_ = false;
    push_wait* parked_ = nullptr;
    detail::made_at_park<push_wait> wait_;
  };

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] pop_awaitable
      : public coop::detail::awaitable<pop_awaitable> {
   public:
    explicit pop_awaitable(channel & from) noexcept : from_(from) {}
    bool ready() { return try_it() || (from_.spins(&channel::seems_to_have_value) && try_it()); }
    void park(coop::detail::strand_block & self) {
      pop_wait& wait = wait_.make("a value from channel", from_.name_);
      wait.park(self);
      parked_ = &wait;
      from_.park(wait);
    }
    std::optional<T> get() noexcept {
      return std::move(parked_ != nullptr ? parked_->value : value_);
    }

   private:
    bool try_it() { return from_.try_pop(value_); }

    channel& from_;
    std::optional<T> value_;
    pop_wait* parked_ = nullptr;
    detail::made_at_park<pop_wait> wait_;
  };

  /// `name` is for the report of a deadlock.
  explicit channel(std::size_t capacity, std::string name = {})
      : capacity_(capacity), name_(std::move(name)) {}
  ~channel() { coop::detail::end_strands_left(); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Results in whether the value was taken: false if the channel is closed, or is closed
  /// meanwhile. Suspends while it is full, also after a short look-out; made ready by the pop that
  /// makes room or by close(): inside that call if that is by a strand of its group, else in its
  /// own group, soon after, by a message. Destroyed, timed out or cancelled while it waits: the
  /// value is not sent; but it is if the message was under way.
  push_awaitable push(T value) { return push_awaitable(*this, std::move(value)); }

  /// Results in the oldest value, or nothing once the channel is closed and empty.
  /// Suspends while it is empty, and is made ready, as push(). Timed out or cancelled while it
  /// waits: it takes nothing, unless a value is under way to it. Destroyed then: the value is gone
  /// with it.
  pop_awaitable pop() noexcept { return pop_awaitable(*this); }

  /// No more values: wakes all that wait. A second call does nothing. Does not switch.
  void close() noexcept {
    detail::granted_waits granted;
    {
      const std::lock_guard held(lock_);
      closed_.store(true, std::memory_order_relaxed);
      while (!pushing_.empty()) granted.add(pushing_.pop());
      while (!popping_.empty()) granted.add(popping_.pop());
    }
    granted.grant();
  }

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// Number of values that were not taken yet, without those of pushes that wait; at some moment of
  /// the call.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // Returns whether a push is over; `sent` says how.
  bool try_push(T& value, bool& sent) {
    detail::granted_waits granted;
    bool over;
    {
      const std::lock_guard held(lock_);
      sent = !closed() && offer(value, granted);
      over = sent || closed();
    }
    granted.grant();
    return over;
  }
  bool try_pop(std::optional<T>& to) {
    detail::granted_waits granted;
    bool over;
    {
      const std::lock_guard held(lock_);
      over = take(to, granted) || closed();
    }
    granted.grant();
    return over;
  }
  void park(push_wait& wait) {
    std::unique_lock held(lock_);
    detail::granted_waits granted;
    wait.sent = !closed() && offer(*wait.value, granted);
    const bool over = wait.sent || closed();
    if (!over) pushing_.append(wait);
    held.unlock();
    granted.grant();
    if (over) wait.end_at_once();
  }
  void park(pop_wait& wait) {
    std::unique_lock held(lock_);
    detail::granted_waits granted;
    const bool over = take(wait.value, granted) || closed();
    if (!over) popping_.append(wait);
    held.unlock();
    granted.grant();
    if (over) wait.end_at_once();
  }

  // Under the lock: to a waiting pop, or into the queue if there is room.
  bool offer(T& value, detail::granted_waits& granted) {
    if (!popping_.empty()) {
      auto& popper = static_cast<pop_wait&>(popping_.pop());
      popper.value.emplace(std::move(value));
      granted.add(popper);
      return true;
    }
    if (values_.size() >= capacity_) return false;
    values_.push(std::move(value));
    note_size();
    return true;
  }
  // Under the lock: the oldest; then the push that has waited longest has room, or, without a
  // queue, is the oldest. False if there is none.
  bool take(std::optional<T>& to, detail::granted_waits& granted) {
    if (values_.size() != 0) {
      to.emplace(values_.pop());
      if (!pushing_.empty()) values_.push(std::move(*take_push(granted).value));
      note_size();
      return true;
    }
    if (pushing_.empty()) return false;
    to.emplace(std::move(*take_push(granted).value));
    return true;
  }
  push_wait& take_push(detail::granted_waits& granted) {
    auto& pusher = static_cast<push_wait&>(pushing_.pop());
    pusher.sent = true;
    granted.add(pusher);
    return pusher;
  }
  void note_size() noexcept { size_.store(values_.size(), std::memory_order_relaxed); }

  // Without the lock, as a hint.
  [[nodiscard]] bool seems_to_have_value() const noexcept { return size() != 0 || closed(); }
  [[nodiscard]] bool seems_to_have_room() const noexcept { return size() < capacity_ || closed(); }
  bool spins(bool (channel::*seems)() const noexcept) const noexcept {
    if (capacity_ == 0) return false;  // each side would look out for the other one to wait
    group* const here = group::current();
    return here != nullptr && here->spin_for([&] { return (this->*seems)(); });
  }

  alignas(detail::line_bytes) detail::spin_lock lock_;  // of all that follows
  std::atomic<bool> closed_{false};                     // changed under the lock
  std::atomic<std::size_t> size_{0};  // values_.size(), for those without the lock
  const std::size_t capacity_;
  coop::detail::ring<T> values_;
  detail::wait_queue pushing_{lock_};
  detail::wait_queue popping_{lock_};
  std::string name_;
};

}  // namespace heddle::coop::parallel
