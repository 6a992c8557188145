#pragma once

#include <coroutine>
#include <cstdint>
#include <new>
#include <utility>

#include "heddle/coop/detail/strand_block.hpp"
#include "heddle/coop/detail/thread_local.hpp"

namespace heddle::coop {

/// Thrown at a wait of a strand that was cancelled, so that it ends and its destructors run. Not
/// derived from anything: only `catch (...)` meets it. Thrown once: a destructor or a handler on
/// the way may wait again.
struct cancelled final {};

namespace detail {

// The running strand; null outside of scheduler::run(). A strand that goes on after a wait finds
// itself here: it keeps no pointer to itself on its stack, whose first load after a switch is slow.
HEDDLE_THREAD_LOCAL inline constinit thread_local strand_block* current_strand = nullptr;
// The scheduler that runs it. The same as current_strand->owner, but known without waiting for the
// strand to be known: so one switch does not wait for the one before.
HEDDLE_THREAD_LOCAL inline constinit thread_local scheduler* current_scheduler = nullptr;

// A strand that its scheduler is destroying; for messages.
inline constinit thread_local strand_block* being_destroyed = nullptr;
// On a thread of a pool, during a call by offload(): the number of the strand that waits for it, 0
// otherwise; for messages.
inline constinit thread_local std::uint64_t offloaded_by = 0;

// The same two, for code that a fiber runs before and after a switch, from which it may come back
// on another thread: all code in headers, that is.
HEDDLE_THREAD_ACCESS inline strand_block* this_strand() noexcept {
  return HEDDLE_OF_THREAD(current_strand, "_ZN6heddle4coop6detail14current_strandE");
}
HEDDLE_THREAD_ACCESS inline void set_this_strand(strand_block* to) noexcept {
  HEDDLE_OF_THREAD(current_strand, "_ZN6heddle4coop6detail14current_strandE") = to;
}
HEDDLE_THREAD_ACCESS inline scheduler* this_scheduler() noexcept {
  return HEDDLE_OF_THREAD(current_scheduler, "_ZN6heddle4coop6detail17current_schedulerE");
}

[[noreturn]] void throw_cancelled(strand_block& strand);
/// After a wait that did not end in the plain way: throws if it was cancelled.
void end_special_wait(strand_block& strand);
[[noreturn]] void wait_by_wrong_kind(const strand_block* self, strand_kind wanted) noexcept;

/// For a wait that was granted before it was timed out or cancelled, though the strand did not
/// know: it counts as granted, and a cancellation is told at the next wait.
inline void count_as_granted(strand_block& strand) noexcept {
  strand.cancel_pending |= strand.reason == wake_reason::cancelled;
  strand.reason = wake_reason::granted;
}

/// The strand that is about to wait, which must be of that kind.
inline strand_block& waiting_strand(strand_kind wanted) {
  strand_block* const self = this_strand();
  if (self == nullptr || self->kind != wanted) [[unlikely]] {
    wait_by_wrong_kind(self, wanted);
  }
  return *self;
}

/// Parks the strand in the list, for a wait in one list.
inline void wait_in(strand_block& self, wait_node& node, wait_list& list) noexcept {
  node.who = &self;
  list.append(node);
  self.waits = &node;
}

/// Parks the strand in one of several lists, for one wait: call it for each. The wait ends when one
/// of the nodes is woken, or, if that is given, as many as `*pending` says.
inline void wait_in_several(strand_block& self, several_node& node, wait_list& list,
                            std::size_t* pending = nullptr) noexcept {
  node.sibling = self.waits;
  node.pending = pending;
  self.several = true;
  wait_in(self, node, list);
}

/// A wait that is made when its strand parks: most waits turn out not to be necessary. An awaitable
/// that is moved, as by within(), has none yet.
template <class Wait>
class made_at_park {
 public:
  made_at_park() noexcept {}
  made_at_park(made_at_park&&) noexcept {}
  made_at_park& operator=(made_at_park&&) = delete;
  ~made_at_park() {
    if (made_) wait_.~Wait();
  }

  template <class... Arguments>
  Wait& make(Arguments&&... arguments) {
    new (&wait_) Wait(std::forward<Arguments>(arguments)...);
    made_ = true;
    return wait_;
  }

 private:
  union {
    Wait wait_;
  };
  bool made_ = false;
};

/// The common base of every awaitable. `A` has
/// - `bool ready()`: try to get it without waiting;
/// - `void park(strand_block& self)`: put the strand where it will be woken from;
/// - `get()`: the result, after ready() returned true or the strand was woken.
/// Not copied once it is parked.
template <class A>
class awaitable {
 public:
  bool await_ready() { return self().ready(); }
  void await_suspend(std::coroutine_handle<> handle) {
    // Not a symmetric transfer to the next strand: that is a call below -O2, and the stack would
    // grow with each.
    strand_block& strand = waiting_strand(strand_kind::task);
    begin(strand);
    strand.resume_at = handle.address();
  }
  decltype(auto) await_resume() {
    // Driven by no scheduler, a task is in no strand; neither does it wait then.
    if (strand_block* const strand = this_strand()) end(*strand);
    return self().get();
  }

  /// For await(): parks.
  void begin(strand_block& strand) {
    if constexpr (A::shielded()) {
      strand.shielded = true;
    } else if (strand.cancel_pending) [[unlikely]] {
      throw_cancelled(strand);
    }
    self().park(strand);
  }
  /// For await(): throws if the wait was cancelled.
  static void end(strand_block& strand) {
    if (strand.reason != wake_reason::granted || strand.shielded) [[unlikely]] {
      end_special_wait(strand);
    }
  }
  /// Whether a cancellation is kept for later: the wait must end by itself.
  static constexpr bool shielded() noexcept { return false; }
  /// Whether within() may end the wait before its time.
  static constexpr bool limitable() noexcept { return true; }

 private:
  A& self() noexcept { return static_cast<A&>(*this); }
};

}  // namespace detail
}  // namespace heddle::coop
