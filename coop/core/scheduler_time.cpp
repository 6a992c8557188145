// Turns that do not just run the next strand of the ready queue: timers, predicates, an empty
// queue.
#include <algorithm>

#include "core/watch.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

using detail::strand_block;
using detail::strand_status;
using detail::wake_reason;
using expectation = reactor::expectation;

namespace {

constexpr duration outside_nap = std::chrono::microseconds(50);
constexpr duration long_nap = std::chrono::hours(1);

}  // namespace

time_point scheduler::now() const noexcept {
  return options_.clock == clock_policy::simulated ? simulated_now_
                                                   : std::chrono::steady_clock::now();
}

bool scheduler_access::wake_before(strand_block& strand, time_point at) {
  // A time that never comes needs no timer: without it, a deadlock is found.
  if (at == time_point::max()) return false;
  detail::timer_queue& timers = strand.owner->timers_;
  if (strand.timed) {
    if (timers.deadline(strand) <= at) return false;
    timers.remove(strand);
  }
  timers.add(strand, at);
  return true;
}

void scheduler::wake_due() {
  const time_point time = now();
  while (!timers_.empty() && timers_.earliest() <= time) {
    strand_block& due = timers_.first();
    if (due.kind == detail::strand_kind::none) {  // a strand_context's deadline
      timers_.remove(due);
      due.resume(&due);
    } else {
      give_up(due, wake_reason::timed_out);
    }
  }
}

strand_block* scheduler::next_special(strand_block& slot) {
  return next_polled(slot.status == strand_status::hole ? pop() : &slot);
}

// Where a recorder is loaded, a fiber goes to the next one from here, and is itself the next when
// this returns: what its caller does around a switch may be traced, and none of that may lie
// between what is announced and what is done.
strand_block* scheduler::next_slow(strand_block* leaving) {
  if (!announcer_.on) [[likely]] {
    return turns_ != 0 ? next_polled(pop()) : next_after_timers();
  }
  if (detail::current_strand != nullptr) announce_wait(*detail::current_strand);
  strand_block* const to = next_after_timers();
  turns_ = 1;  // each turn comes here
  announce_turn(to);
  if (leaving == nullptr) return to;
  switch_fiber(*leaving, to);
  return leaving;
}

strand_block* scheduler::next_after_timers() {
  turns_ = options_.random_seed ? 1 : detail::turns_between_timers;
  if (watch_ != nullptr) [[unlikely]] {
    watch_->gives_way();
  }
  if (group_ != nullptr) {
    if (leaving_.strand != nullptr) send_leaving();  // a task; fibers do so in run_strands()
    turns_ = std::min(turns_, group_->look());
  } else if (!door_.empty()) [[unlikely]] {
    door_.deliver(this);
  }
  if (!timers_.empty()) wake_due();
  if (reactor_ != nullptr && reactor_->expected() != expectation::nothing) reactor_->keep_up();
  strand_block* const named = std::exchange(named_, nullptr);
  strand_block* const chosen = next_polled(named != nullptr ? named : pop());
  if (watch_ != nullptr) [[unlikely]] {
    turns_ = 1;  // each turn comes here
    if (chosen != nullptr) watch_->takes_turn(all_.id(*chosen), chosen->name());
  }
  return chosen;
}

// Evaluates predicates until one holds or a strand without one has its turn. `fruitless` counts the
// evaluations since anything could have changed; the second round is in order, so that the random
// policy leaves none out.
strand_block* scheduler::next_polled(strand_block* candidate) {
  std::size_t fruitless = 0;
  for (;;) {
    if (candidate == nullptr) {
      if (!pass_time(false)) return nullptr;
      candidate = pop();
      continue;
    }
    if (candidate->status != strand_status::polling) return candidate;
    if (candidate->poll->holds(candidate->poll->predicate)) {
      if (candidate->timed) timers_.remove(*candidate);
      candidate->waits = nullptr;
      candidate->status = strand_status::ready;
      return candidate;
    }
    ready_.push(*candidate);
    const std::size_t round = ready_.size_bound();
    if (++fruitless > 2 * round) {
      if (!pass_time(true)) return nullptr;
      fruitless = 0;
    }
    candidate = fruitless > round ? ready_.pop() : pop();
  }
}

void scheduler_access::attach(scheduler& its, reactor& events) {
  if (its.reactor_ != nullptr) {
    throw std::logic_error(
        "this scheduler has a reactor (an io::service) already; it can wait in one only");
  }
  its.reactor_ = &events;
}

// Waits on the steady clock: for events and posts from outside too. `until`: not given only if
// there may be any. Returns false if there is no sense in it any more.
bool scheduler::nap(std::optional<time_point> until) {
  const bool events = reactor_ != nullptr && reactor_->expected() != expectation::nothing;
  if (group_ != nullptr) {
    // Groups that all rest until something is posted have come to the end of their run.
    if (expected_posts_ != 0 && !until) until = std::chrono::steady_clock::now() + long_nap;
    return group_->rest(until, events ? reactor_ : nullptr);
  }
  door_.sleep(until, events ? reactor_ : nullptr, options_.outside_events || expected_posts_ != 0);
  return true;
}

// Lets time pass while nothing can run. Returns false if time would change nothing.
bool scheduler::pass_time(bool polled) {
  if (deliver_posts()) return true;
  const bool outside =
      options_.outside_events && (polled || (group_ == nullptr && all_.size() != 0));
  const expectation expected = expected_posts_ != 0  ? expectation::prompt
                               : reactor_ != nullptr ? reactor_->expected()
                                                     : expectation::nothing;
  if (timers_.empty() && !outside && expected == expectation::nothing) {
    return group_ != nullptr && group_->rest(std::nullopt, nullptr);
  }

  std::optional<time_point> until;
  if (outside && polled) until = std::chrono::steady_clock::now() + outside_nap;
  if (options_.clock == clock_policy::real) {
    if (!timers_.empty()) until = std::min(until.value_or(timers_.earliest()), timers_.earliest());
    if (!nap(until)) return false;
  } else if (expected == expectation::prompt || timers_.empty()) {
    nap(until);  // virtual time stands still
  } else if (expected == expectation::nothing || !reactor_->poll()) {
    simulated_now_ = std::max(simulated_now_, timers_.earliest());
  }
  wake_due();
  return true;
}

}  // namespace heddle::coop
