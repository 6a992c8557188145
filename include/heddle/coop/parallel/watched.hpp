#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/remote_wait.hpp"

namespace heddle::coop::parallel {

namespace detail {

/// One strand that watches one variable. Its predicate is evaluated by its own group, for it may
/// depend on what only that group may touch.
class watch final : public remote_wait {
 public:
  watch(const std::string& name, const coop::detail::poll_function& condition) noexcept
      : remote_wait("a change of", name, &look), condition_(condition) {}

 private:
  static void look(remote_wait& self) noexcept;

  const coop::detail::poll_function& condition_;
};

class watched_base {
 protected:
  explicit watched_base(std::string name) : name_(std::move(name)) {}

  /// After a change, which was sequentially consistent: either we see those who wait, or they saw
  /// the change when they looked once more before they waited.
  void changed() noexcept {
    if (!watchers_.empty_in_order()) [[unlikely]] {
      tell_all();
    }
  }

 private:
  template <class Predicate, std::size_t N>
  friend class wait_until_awaitable;

  void tell_all() noexcept;

  spin_lock lock_;
  wait_queue watchers_{lock_};
  std::string name_;
};

template <class Predicate, std::size_t N>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] wait_until_awaitable
    : public coop::detail::awaitable<wait_until_awaitable<Predicate, N>> {
 public:
  wait_until_awaitable(Predicate predicate, std::array<watched_base*, N> variables)
      : predicate_(std::move(predicate)), variables_(variables) {}
  bool ready() { return predicate_(); }
  void park(coop::detail::strand_block & self) {
    condition_.predicate = this;
    std::array<watch*, N> watches{};
    for (std::size_t i = N; i-- > 0;) {
      bool repeated = false;  // a variable named twice is watched once
      for (std::size_t j = 0; j < i; ++j) repeated = repeated || variables_[j] == variables_[i];
      if (repeated) continue;
      watches[i] = &watches_[i].make(variables_[i]->name_, condition_);
      watches[i]->park_with_others(self);
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (watches[i] != nullptr) watches[i]->wait_in(variables_[i]->watchers_);
    }
    // A watched variable may have changed before this wait was in the queues.
    if (predicate_()) watches[0]->end_at_once();
  }
  void get() const noexcept {}

 private:
  static bool holds(void* self) noexcept {
    return static_cast<wait_until_awaitable*>(self)->predicate_();
  }

  Predicate predicate_;
  std::array<watched_base*, N> variables_;
  coop::detail::poll_function condition_{&holds, nullptr};
  std::array<made_at_park<watch>, N> watches_;
};

}  // namespace detail

/// A variable that strands of any group can read, change and wait on: what wait_until() names. Each
/// operation on it is atomic, and all are seen in one order.
///
/// A change costs an exchange and a look; where strands wait, a message to each of them, at most
/// one under way at a time: several changes meanwhile are one evaluation.
///
/// A change accesses the variable once more after others can see the change. So a strand of another
/// group that has seen a change may not destroy the variable yet: destroy it when no strand waits
/// for it and the changes are known to be over, by a semaphore's V after the change, for example,
/// or by run()'s end. It is best to let it outlive the groups.
template <class T>
class watched : private detail::watched_base {
  static_assert(std::is_trivially_copyable_v<T> && std::atomic<T>::is_always_lock_free,
                "a variable of several groups is one word: keep more behind a mutex");

 public:
  /// `name` is for the report of a deadlock.
  explicit watched(T value = {}, std::string name = {})
      : watched_base(std::move(name)), value_(value) {}
  ~watched() { coop::detail::end_strands_left(); }
  watched(const watched&) = delete;

  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_seq_cst); }
  operator T() const noexcept { return get(); }  // reads like a T

  watched& operator=(T value) noexcept {
    value_.store(value, std::memory_order_seq_cst);
    changed();
    return *this;
  }
  /// `change(value)` may change it in any way; it is called again if another thread was faster.
  template <class Change>
  void update(Change&& change) {
    T seen = get();
    for (;;) {
      T value = seen;
      change(value);
      if (value_.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) break;
    }
    changed();
  }
  watched& operator+=(T other) {
    update([&](T& value) { value = static_cast<T>(value + other); });
    return *this;
  }
  watched& operator-=(T other) {
    update([&](T& value) { value = static_cast<T>(value - other); });
    return *this;
  }
  watched& operator++() {
    update([](T& value) { ++value; });
    return *this;
  }
  watched& operator--() {
    update([](T& value) { --value; });
    return *this;
  }

 private:
  template <class Predicate, class... Ts>
  friend auto wait_until(Predicate predicate, watched<Ts>&... variables);

  alignas(detail::line_bytes) std::atomic<T> value_;
};

/// Like coop::wait_until(), over variables of any groups: waits until `predicate()` is true. It is
/// evaluated by the strand's own group, so that it may depend on that group's plain variables too,
/// as long as only a change of `variables` makes it true.
///
/// Suspends if the predicate is false; made ready by a message that a change posts, in its own
/// group, or inside a change by a strand of that. Other strands run between the change and the
/// strand going on, and may change the variables again: where that matters, loop. The predicate
/// must not wait, nor change a variable; an exception from an evaluation after the first ends the
/// program. Timed out, cancelled or destroyed while it waits: it watches no more. The variables
/// must outlive the wait.
template <class Predicate, class... Ts>
auto wait_until(Predicate predicate, watched<Ts>&... variables) {
  static_assert(sizeof...(Ts) > 0, "name the variables on which the predicate depends");
  return detail::wait_until_awaitable<Predicate, sizeof...(Ts)>(
      std::move(predicate), {static_cast<detail::watched_base*>(&variables)...});
}

}  // namespace heddle::coop::parallel
