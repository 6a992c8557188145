#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

namespace detail {

// A strand in wait_until(): its node in the list of one variable, and how to ask its predicate.
struct watch_node : several_node {
  const poll_function* condition = nullptr;
};

class watched_base {
 public:
  explicit watched_base(std::string name)
      : name_(std::move(name)), watchers_("a change of variable", name_) {}

 protected:
  /// Wakes those whose predicate holds now.
  void changed() {
    for (wait_node* node = watchers_.first(); node != nullptr;) {
      wait_node* const next = node->next;
      const poll_function& condition = *static_cast<watch_node*>(node)->condition;
      if (condition.holds(condition.predicate)) scheduler_access::wake(*node);
      node = next;  // waking takes out the strand's nodes, of which this list has no other
    }
  }

 private:
  template <class Predicate, std::size_t N>
  friend class wait_until_awaitable;
  std::string name_;
  wait_list watchers_;
};

template <class Predicate, std::size_t N>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] wait_until_awaitable
    : public awaitable<wait_until_awaitable<Predicate, N>> {
 public:
  wait_until_awaitable(Predicate predicate, std::array<watched_base*, N> variables)
      : predicate_(std::move(predicate)), variables_(variables) {}
  bool ready() { return predicate_(); }
  void park(strand_block & self) {
    condition_.predicate = this;
    for (std::size_t i = N; i-- > 0;) {
      nodes_[i].condition = &condition_;
      bool repeated = false;  // a variable named twice is watched once
      for (std::size_t j = 0; j < i; ++j) repeated = repeated || variables_[j] == variables_[i];
      if (repeated) continue;
      wait_in_several(self, nodes_[i], variables_[i]->watchers_);
    }
  }
  void get() const noexcept {}

 private:
  static bool holds(void* self) noexcept {
    return static_cast<wait_until_awaitable*>(self)->predicate_();
  }

  Predicate predicate_;
  std::array<watched_base*, N> variables_;
  std::array<watch_node, N> nodes_;
  poll_function condition_{&holds, nullptr};
};

}  // namespace detail

/// A variable that strands can wait on: what wait_until() names. Reading costs nothing; a change
/// evaluates the predicates of those that wait on it, in the order in which they began to wait. It
/// may be destroyed by any strand of its scheduler, while none waits on it.
template <class T>
class watched : private detail::watched_base {
 public:
  /// `name` is for the report of a deadlock.
  explicit watched(T value = {}, std::string name = {})
      : watched_base(std::move(name)), value_(std::move(value)) {}
  ~watched() { detail::end_strands_left(); }
  watched(const watched&) = delete;

  [[nodiscard]] const T& get() const noexcept { return value_; }
  operator const T&() const noexcept { return value_; }  // reads like a T

  watched& operator=(T value) {
    value_ = std::move(value);
    changed();
    return *this;
  }
  /// `change(value)` may do anything to it; watchers are asked once, afterwards.
  template <class Change>
  void update(Change&& change) {
    std::forward<Change>(change)(value_);
    changed();
  }
  watched& operator+=(const T& other) {
    value_ += other;
    changed();
    return *this;
  }
  watched& operator-=(const T& other) {
    value_ -= other;
    changed();
    return *this;
  }
  watched& operator++() {
    ++value_;
    changed();
    return *this;
  }
  watched& operator--() {
    --value_;
    changed();
    return *this;
  }

 private:
  template <class Predicate, class... Ts>
  friend auto wait_until(Predicate predicate, watched<Ts>&... variables);
  T value_;
};

/// Like wait_for(), but the predicate is evaluated only when one of `variables` changes, by the
/// strand that changes it: strands that wait cost nothing. It must depend on nothing else.
///
/// Unlike after wait_for(), other strands run between the change that made the predicate true and
/// the strand going on, and may change the variables again: where that matters, loop.
///
/// Suspends if the predicate is false; made ready inside the assignment that makes it true, on this
/// thread. The predicate must not wait, nor change a variable; an exception from an evaluation
/// after the first ends the program. Destroyed while it waits: it watches no more. The variables
/// must outlive the wait.
template <class Predicate, class... Ts>
auto wait_until(Predicate predicate, watched<Ts>&... variables) {
  static_assert(sizeof...(Ts) > 0, "name the variables on which the predicate depends");
  return detail::wait_until_awaitable<Predicate, sizeof...(Ts)>(
      std::move(predicate), {static_cast<detail::watched_base*>(&variables)...});
}

}  // namespace heddle::coop
