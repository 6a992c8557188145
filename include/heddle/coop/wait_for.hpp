#pragma once

#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

/// See wait_for().
template <class Predicate>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] wait_for_awaitable
    : public detail::awaitable<wait_for_awaitable<Predicate>> {
 public:
  explicit wait_for_awaitable(Predicate predicate) : predicate_(std::move(predicate)) {}
  bool ready() { return predicate_(); }
  void park(detail::strand_block & self) {
    poll_.predicate = this;
    scheduler_access::poll(self, poll_);
  }
  void get() const noexcept {}

 private:
  static bool holds(void* self) noexcept {
    return static_cast<wait_for_awaitable*>(self)->predicate_();
  }

  Predicate predicate_;
  detail::poll_function poll_{&holds, nullptr};
};

/// The paper's `waitfor`: goes on at once if `predicate()` is true; otherwise the strand gives way
/// as in yield(), and the predicate is evaluated again each time its turn comes, until it is true.
/// When the strand goes on, nothing has run since the predicate was found true.
///
/// The scheduler evaluates it, on the stack of the strand that gives way: a false one costs a call,
/// not a switch. It must not wait. The first evaluation may throw; an exception from a later one
/// ends the program.
///
/// Suspends if the predicate is false; resumed by the scheduler from inside another strand's wait
/// or end, on this thread. Destroyed while it waits: it leaves the ready queue. All strands waiting
/// so, none true and no timer pending, is a deadlock, unless scheduler_options::outside_events.
template <class Predicate>
wait_for_awaitable<Predicate> wait_for(Predicate predicate) {
  return wait_for_awaitable<Predicate>(std::move(predicate));
}

}  // namespace heddle::coop
