// What the scheduler does when a turn is not just the next strand of the ready queue: timers,
// predicates, nothing to run.
#include <algorithm>
#include <thread>

#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

using detail::strand_block;
using detail::strand_status;
using detail::wake_reason;

namespace {

constexpr duration outside_nap = std::chrono::microseconds(50);

}  // namespace

time_point scheduler::now() const noexcept {
  return options_.clock == clock_policy::simulated ? simulated_now_
                                                   : std::chrono::steady_clock::now();
}

void scheduler::wake_at(strand_block& strand, time_point at) { timers_.add(strand, at); }

void scheduler::wake_due() {
  const time_point time = now();
  while (!timers_.empty() && timers_.earliest() <= time) {
    give_up(timers_.first(), wake_reason::timed_out);
  }
}

strand_block* scheduler::next_special(strand_block& slot) {
  return next_polled(slot.status == strand_status::hole ? pop() : &slot);
}

// Looks at the timers too, when it is time for that.
strand_block* scheduler::next_slow() {
  if (turns_ != 0) return next_polled(pop());
  turns_ = options_.random_seed ? 1 : turns_between_timers;
  if (!timers_.empty()) wake_due();
  strand_block* const named = std::exchange(named_, nullptr);
  return next_polled(named != nullptr ? named : pop());
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
      if (candidate->timer != strand_block::no_timer) timers_.remove(*candidate);
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

// Lets time pass while nothing can run. Returns false if time would change nothing.
bool scheduler::pass_time(bool polled) {
  const bool outside = polled && options_.outside_events;
  if (timers_.empty() && !outside) return false;
  if (options_.clock == clock_policy::simulated) {
    if (timers_.empty()) {
      std::this_thread::sleep_for(outside_nap);
    } else {
      simulated_now_ = std::max(simulated_now_, timers_.earliest());
    }
  } else {
    const time_point nap_end = now() + outside_nap;
    const time_point until = timers_.empty() ? nap_end
                             : outside       ? std::min(nap_end, timers_.earliest())
                                             : timers_.earliest();
    std::this_thread::sleep_until(until);
  }
  wake_due();
  return true;
}

}  // namespace heddle::coop
