#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/ring.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

/// A bounded queue of values between strands. First come, first served on both sides; capacity 0 is
/// a rendezvous. After close() what is in it can still be popped. Moving a T must not throw. To
/// wait on several channels at once: select(), of select.hpp.
template <class T>
class channel {
  struct push_node : detail::several_node {
    T* value = nullptr;  // still the pusher's
    bool sent = false;
  };
  struct pop_node : detail::several_node {
    std::optional<T> value;
  };

  /// `Value`: T, or a reference to what stays with the caller unless it is sent.
  template <class Value>
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] basic_push
      : public detail::awaitable<basic_push<Value>> {
   public:
    basic_push(channel & to, Value && value) noexcept
        : to_(to), value_(std::forward<Value>(value)) {}
    bool ready() {
      if (to_.closed_) return true;
      node_.sent = to_.offer(value_);
      return node_.sent;
    }
    void park(detail::strand_block & self) noexcept { detail::wait_in(self, node(), list()); }
    bool get() const noexcept { return node_.sent; }

    // For select(): where it waits, and whether that was granted.
    detail::several_node& node() noexcept {
      node_.value = std::addressof(value_);
      return node_;
    }
    detail::wait_list& list() const noexcept { return to_.pushing_; }
    bool granted() const noexcept { return node_.sent; }

   private:
    channel& to_;
    Value value_;
    push_node node_;
  };

 public:
  using push_awaitable = basic_push<T>;
  using push_from_awaitable = basic_push<T&>;

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] pop_awaitable
      : public detail::awaitable<pop_awaitable> {
   public:
    explicit pop_awaitable(channel & from) noexcept : from_(from) {}
    bool ready() { return from_.take(node_.value) || from_.closed_; }
    void park(detail::strand_block & self) noexcept { detail::wait_in(self, node(), list()); }
    std::optional<T> get() noexcept { return std::move(node_.value); }

    detail::several_node& node() noexcept { return node_; }
    detail::wait_list& list() const noexcept { return from_.popping_; }
    bool granted() const noexcept { return node_.value.has_value(); }

   private:
    channel& from_;
    pop_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit channel(std::size_t capacity, std::string name = {})
      : capacity_(capacity),
        name_(std::move(name)),
        pushing_("room in channel", name_),
        popping_("a value from channel", name_) {}
  ~channel() { detail::end_strands_left(); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Results in whether the value was taken: false if the channel is closed, or is closed
  /// meanwhile. Suspends while it is full; made ready by the pop that makes room or by close(),
  /// inside that call, on this thread. Destroyed, timed out or cancelled while it waits: the value
  /// is not sent.
  push_awaitable push(T value) { return push_awaitable(*this, std::move(value)); }
  /// Like push(), but a value that is not sent stays in `value`, which must outlive the wait.
  push_from_awaitable push_from(T& value) noexcept { return push_from_awaitable(*this, value); }

  /// Results in the oldest value, or nothing once the channel is closed and empty.
  /// Suspends while it is empty; made ready by the push of a value or by close(), inside that call,
  /// on this thread. Destroyed, timed out or cancelled while it waits: it takes nothing.
  pop_awaitable pop() noexcept { return pop_awaitable(*this); }

  /// No more values: wakes all that wait. A second call does nothing. Does not switch.
  void close() {
    closed_ = true;
    while (!pushing_.empty()) scheduler_access::wake(*pushing_.first());
    while (!popping_.empty()) scheduler_access::wake(*popping_.first());
  }

  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// Number of values that were not taken yet, without those of pushes that wait.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  // To a waiting pop, or into the queue if there is room.
  bool offer(T& value) {
    if (auto* const popper = static_cast<pop_node*>(popping_.first())) {
      popper->value.emplace(std::move(value));
      scheduler_access::wake(*popper);
      return true;
    }
    if (values_.size() >= capacity_) return false;
    values_.push(std::move(value));
    return true;
  }

  // The oldest; then the push that has waited longest has room, or, without a queue, is the oldest.
  // False if there is none.
  bool take(std::optional<T>& to) {
    auto* const pusher = static_cast<push_node*>(pushing_.first());
    if (values_.size() != 0) {
      to.emplace(values_.pop());
      if (pusher == nullptr) return true;
      values_.push(std::move(*pusher->value));
    } else {
      if (pusher == nullptr) return false;
      to.emplace(std::move(*pusher->value));
    }
    pusher->sent = true;
    scheduler_access::wake(*pusher);
    return true;
  }

  std::size_t capacity_;
  bool closed_ = false;
  detail::ring<T> values_;
  std::string name_;
  detail::wait_list pushing_;
  detail::wait_list popping_;
};

}  // namespace heddle::coop
