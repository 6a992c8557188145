#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

namespace detail {

template <class A>
concept waits = requires(A& a, strand_block& self) {
  a.await_ready();
  a.begin(self);
  a.get();
};

/// Says why `A` is nothing that await() takes.
template <class A>
constexpr void refuse() {
  using type = std::remove_cvref_t<A>;
  constexpr bool joined = requires(type & a) { a.join(); };
  constexpr bool is_a_task = requires { typename type::promise_type; };
  static_assert(!joined, "await(handle.join()) waits for the end of a strand, not await(handle)");
  static_assert(
      !is_a_task,
      "await(std::move(t)) of a task is in heddle/coop/hybrid.hpp, which is not included here");
  static_assert(joined || is_a_task,
                "await(x) waits for the awaitables of this library and for tasks: for those of "
                "another one, write an awaitable around them (docs/library.md)");
}

}  // namespace detail

/// A fiber's co_await: waits for `what`, and returns its result. Ends the program with a message
/// where there is no fiber to suspend: in a task, which has co_await, and outside of run().
template <class Awaitable>
[[gnu::always_inline]] inline decltype(auto) await(Awaitable&& what) {
  if constexpr (detail::waits<Awaitable>) {
    if (!what.await_ready()) {
      detail::strand_block& self = detail::waiting_strand(detail::strand_kind::fiber);
      what.begin(self);
      scheduler_access::leave_fiber(self);
      what.end(*detail::this_strand());
    }
    return what.get();
  } else {
    detail::refuse<Awaitable>();
  }
}

namespace detail {

template <class A>
concept limitable = std::derived_from<A, awaitable<A>> && A::limitable();

template <class T>
struct within_result {
  using type = std::optional<T>;
};
template <class T>
struct within_result<T&> {
  using type = std::optional<std::reference_wrapper<T>>;
};
template <>
struct within_result<void> {
  using type = bool;
};

}  // namespace detail

/// A wait with a limit. See within().
template <class A>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] within_awaitable
    : public detail::awaitable<within_awaitable<A>> {
  static_assert(detail::limitable<A>,
                "within() limits waits: not a yield, nor a move to another group, and nothing that "
                "is no awaitable of this library");

 public:
  using value = decltype(std::declval<A&>().get());
  using result = typename detail::within_result<value>::type;

  within_awaitable(duration limit, A && limited) : limit_(limit), limited_(std::move(limited)) {}
  static constexpr bool shielded() noexcept { return A::shielded(); }
  bool ready() { return limited_.ready(); }
  void park(detail::strand_block & self) {
    limited_.park(self);
    if (!self.is_waiting()) return;  // it was granted while it parked
    const time_point until = detail::later(self.owner->now(), limit_);
    if (scheduler_access::wake_before(self, until)) self_ = &self;
  }
  result get() {
    if (self_ != nullptr && self_->reason == detail::wake_reason::timed_out) {
      self_->reason = detail::wake_reason::granted;
      return result{};
    }
    if constexpr (std::is_void_v<value>) {
      limited_.get();
      return true;
    } else {
      return result{limited_.get()};
    }
  }

 private:
  duration limit_;
  A limited_;
  detail::strand_block* self_ = nullptr;  // once it waits, if this limit is the first to be over
};

/// Waits for `limited`, an awaitable of this library, at most for `limit`: not a yield nor a move,
/// which the compiler refuses. Results in an optional of its result (std::reference_wrapper for a
/// reference), empty after a timeout; in a bool if it has none. (What has moved a part of its bytes
/// by then is no timeout: it results in an error that tells how many, see
/// io::detail::operation_awaitable.)
///
/// Suspends when `limited` does; made ready by the strand that grants it, or by the scheduler when
/// the time has come, whichever is first: a grant is never lost. `limit` is a duration of any unit;
/// duration::max(), or what is longer, is no limit.
/// Destroyed while it waits: it waits no more.
template <class A>
within_awaitable<A> within(detail::length limit, A limited) {
  return within_awaitable<A>(limit, std::move(limited));
}

}  // namespace heddle::coop
