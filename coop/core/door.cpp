#include "heddle/coop/detail/door.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "futex.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/reactor.hpp"

namespace heddle::coop::detail {

namespace {

// Longest uninterrupted wait in a reactor without interrupt().
constexpr duration slice = std::chrono::microseconds(50);

}  // namespace

door::~door() {
  while (posting_.load(std::memory_order_acquire) != 0) sched_yield();
}

bool door::deliver(scheduler* to) noexcept {
  if (inbox_.empty()) return false;
  // A fiber may be giving way just now, and its stack is what this runs on: it is no strand that
  // could wait here.
  strand_block* const leaving = std::exchange(current_strand, nullptr);
  message* each = inbox_.take_all();
  while (each != nullptr) {
    message& posted = *each;
    each = each->next;  // before it may be posted again
    posted.deliver(posted, to);
  }
  current_strand = leaving;
  return true;
}

void door::wake() noexcept {
  state seen = state_.load(std::memory_order_seq_cst);
  for (;;) {
    switch (seen) {
      case state::awake:
      case state::interrupting:
        return;
      case state::asleep:
        if (!state_.compare_exchange_weak(seen, state::awake, std::memory_order_seq_cst)) break;
        futex_wake(state_);
        return;
      case state::in_reactor:
        if (!state_.compare_exchange_weak(seen, state::interrupting, std::memory_order_seq_cst)) {
          break;
        }
        reactor_.load(std::memory_order_relaxed)->interrupt();
        state_.store(state::awake, std::memory_order_release);
        return;
    }
  }
}

void door::sleep(std::optional<time_point> until, reactor* events, bool expects_posts) {
  if (events != nullptr) {
    sleep_in(*events, until, expects_posts);
    return;
  }
  state_.store(state::asleep, std::memory_order_seq_cst);
  if (inbox_.empty_in_order()) futex_wait(state_, state::asleep, until);
  state_.store(state::awake, std::memory_order_relaxed);
}

void door::sleep_in(reactor& events, std::optional<time_point> until, bool expects_posts) {
  if (expects_posts && !events.interruptible()) {
    const time_point soon = std::chrono::steady_clock::now() + slice;
    until = std::min(until.value_or(soon), soon);
  }
  struct waiting {
    std::atomic<state>& word;
    ~waiting() {
      state seen = state::in_reactor;
      if (word.compare_exchange_strong(seen, state::awake, std::memory_order_seq_cst)) return;
      // Not before interrupt() has returned: the reactor may be gone then.
      while (word.load(std::memory_order_acquire) != state::awake) sched_yield();
    }
  } const until_the_end{state_};
  reactor_.store(&events, std::memory_order_relaxed);
  state_.store(state::in_reactor, std::memory_order_seq_cst);
  if (inbox_.empty_in_order()) events.wait(until);
}

}  // namespace heddle::coop::detail
