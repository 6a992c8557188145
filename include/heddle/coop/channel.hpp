#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

/// A bounded queue of values between strands. First come, first served on both sides; capacity 0 is
/// a rendezvous. After close() what is in it can still be popped.
template <class T>
class channel {
  struct value_node : detail::wait_node {
    std::optional<T> value;
    bool sent = false;
  };

 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] push_awaitable
      : public detail::awaitable<push_awaitable> {
   public:
    push_awaitable(channel & to, T value) : to_(to) { node_.value.emplace(std::move(value)); }
    bool ready() {
      if (to_.closed_) return true;
      node_.sent = to_.offer(*node_.value);
      return node_.sent;
    }
    void park(detail::strand_block & self) noexcept { detail::wait_in(self, node_, to_.pushing_); }
    bool get() const noexcept { return node_.sent; }

   private:
    channel& to_;
    value_node node_;
  };

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] pop_awaitable
      : public detail::awaitable<pop_awaitable> {
   public:
    explicit pop_awaitable(channel & from) noexcept : from_(from) {}
    bool ready() {
      node_.value = from_.take();
      return node_.value.has_value() || from_.closed_;
    }
    void park(detail::strand_block & self) noexcept {
      detail::wait_in(self, node_, from_.popping_);
    }
    std::optional<T> get() { return std::move(node_.value); }

   private:
    channel& from_;
    value_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit channel(std::size_t capacity, std::string name = {})
      : capacity_(capacity),
        name_(std::move(name)),
        pushing_("room in channel", name_),
        popping_("a value from channel", name_) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Results in whether the value was taken: false if the channel is closed, or is closed
  /// meanwhile. Suspends while it is full; made ready by the pop that makes room or by close(),
  /// inside that call, on this thread. Destroyed, timed out or cancelled while it waits: the value
  /// is not sent.
  push_awaitable push(T value) { return push_awaitable(*this, std::move(value)); }

  /// Results in the oldest value, or nothing once the channel is closed and empty.
  /// Suspends while it is empty; made ready by the push of a value or by close(), inside that call,
  /// on this thread. Destroyed, timed out or cancelled while it waits: it takes nothing.
  pop_awaitable pop() noexcept { return pop_awaitable(*this); }

  /// No more values: wakes all that wait. A second call does nothing. Does not switch.
  void close() {
    closed_ = true;
    while (!pushing_.empty()) scheduler::wake(*pushing_.first());
    while (!popping_.empty()) scheduler::wake(*popping_.first());
  }

  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// Values that nobody has taken, without those of pushes that wait.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  // To a waiting pop, or into the queue if there is room.
  bool offer(T& value) {
    if (auto* const popper = static_cast<value_node*>(popping_.first())) {
      popper->value.emplace(std::move(value));
      scheduler::wake(*popper);
      return true;
    }
    if (values_.size() >= capacity_) return false;
    values_.push_back(std::move(value));
    return true;
  }

  // The oldest; then the push that has waited longest has room, or, without a queue, is the oldest.
  std::optional<T> take() {
    std::optional<T> taken;
    if (!values_.empty()) {
      taken.emplace(std::move(values_.front()));
      values_.pop_front();
    }
    if (auto* const pusher = static_cast<value_node*>(pushing_.first())) {
      if (taken.has_value()) {
        values_.push_back(std::move(*pusher->value));
      } else {
        taken.emplace(std::move(*pusher->value));
      }
      pusher->sent = true;
      scheduler::wake(*pusher);
    }
    return taken;
  }

  std::size_t capacity_;
  bool closed_ = false;
  std::deque<T> values_;
  std::string name_;
  detail::wait_list pushing_;
  detail::wait_list popping_;
};

}  // namespace heddle::coop
