#pragma once

#include <chrono>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {

namespace detail {

// No `awaitable`: a yield is no wait that could be granted, limited or shielded, and is the one
// operation that has to cost nothing beside the switch.
class yield_awaitable {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const {
    strand_block& self = waiting_strand(strand_kind::task);
    if (self.cancel_pending) [[unlikely]] {
      throw_cancelled(self);
    }
    self.resume_at = handle.address();
    scheduler_access::requeue(self);
  }
  void await_resume() const {
    if (this_strand()->cancel_pending) [[unlikely]] {
      throw_cancelled(*this_strand());
    }
  }
};

class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] yield_to_awaitable
    : public awaitable<yield_to_awaitable> {
 public:
  static constexpr bool limitable() noexcept { return false; }  // it is ready all the time
  explicit yield_to_awaitable(const strand_ref& target) noexcept : target_(&target.block()) {}
  bool ready() const noexcept { return false; }
  void park(strand_block & self) {
    direct_ =
        target_ != &self && target_->owner == self.owner && scheduler_access::queued(*target_);
    if (direct_) scheduler_access::run_next(*target_);
    scheduler_access::requeue(self);
    self_ = &self;
  }
  bool get() {
    if (self_->cancel_pending) [[unlikely]] {
      throw_cancelled(*self_);
    }
    return direct_;
  }

 private:
  strand_block* target_;
  strand_block* self_ = nullptr;
  bool direct_ = false;
};

class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] sleep_awaitable
    : public awaitable<sleep_awaitable> {
 public:
  sleep_awaitable(duration length, time_point until, bool absolute) noexcept
      : length_(length), until_(until), absolute_(absolute) {}
  bool ready() const noexcept { return false; }
  void park(strand_block & self) {
    self.status = strand_status::waiting;
    scheduler_access::wake_at(self, absolute_ ? until_ : later(self.owner->now(), length_));
    self_ = &self;
  }
  void get() noexcept { self_->reason = wake_reason::granted; }

 private:
  duration length_;
  time_point until_;
  bool absolute_;
  strand_block* self_ = nullptr;
};

}  // namespace detail

// Like await(x) for any other x, without the checks that a yield does not need.
[[gnu::always_inline]] inline void await(detail::yield_awaitable what) {
  detail::strand_block& self = detail::waiting_strand(detail::strand_kind::fiber);
  if (self.cancel_pending) [[unlikely]] {
    detail::throw_cancelled(self);
  }
  scheduler_access::give_way(self);
  what.await_resume();
}

/// Lets the other strands that are ready run, then goes on; at once if there are none.
///
/// Suspends always; it stays ready, and is resumed by the scheduler, from inside the wait or the
/// end of the strand that ran before it, on this thread. Destroyed while it waits: it leaves the
/// ready queue.
[[nodiscard("awaited: co_await it, or await(it) in a fiber")]] inline detail::yield_awaitable
yield() noexcept {
  return {};
}

/// The paper's *named yield*: lets `target` run next, then the others as yield() does. Results in
/// whether that was possible: if `target` is not ready (it waits, runs, or has ended), this is a
/// plain yield(). A target in wait_for() gets its turn, so its predicate is evaluated first.
/// Suspends, resumes and is destroyed as yield().
[[nodiscard("awaited: co_await it, or await(it) in a fiber")]] inline detail::yield_to_awaitable
yield_to(const strand_ref& target) noexcept {
  return detail::yield_to_awaitable(target);
}

/// Waits for this long on the scheduler's clock: a duration of any unit, of which the longest never
/// ends.
///
/// Suspends always, for zero too; made ready by the scheduler once the time has come, at some
/// strand's wait or when nothing else is ready, on this thread. Destroyed while it waits: its timer
/// is dropped.
[[nodiscard("awaited: co_await it, or await(it) in a fiber")]] inline detail::sleep_awaitable
sleep_for(detail::length length) noexcept {
  return {length, {}, false};
}

/// Like sleep_for(), to a point in time, of any unit.
template <class Length>
[[nodiscard("awaited: co_await it, or await(it) in a fiber")]] detail::sleep_awaitable sleep_until(
    std::chrono::time_point<time_point::clock, Length> until) noexcept {
  return {{}, time_point(detail::length(until.time_since_epoch())), true};
}

}  // namespace heddle::coop
