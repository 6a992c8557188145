#pragma once

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/scheduler_group.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::parallel {

namespace detail {

/// Throws std::logic_error, saying why, if the running strand cannot go to another group. Ends the
/// program with a message if none runs.
void require_free();

class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] move_awaitable
    : public coop::detail::awaitable<move_awaitable>,
      private message,
      private coop::detail::strand_carrier {
 public:
  static constexpr bool limitable() noexcept { return false; }  // half way there is nowhere
  explicit move_awaitable(group & to) noexcept : message(&deliver_it), to_(to) {}
  bool ready() const {
    if (group::current() == &to_) return true;
    require_free();
    return false;
  }
  void park(coop::detail::strand_block & self) noexcept {
    self_ = &self;
    scheduler_access::move_away(self, *this);
  }
  void get() const noexcept {}

 private:
  void post() noexcept override { to_.post(*this); }
  static void deliver_it(message & self, coop::scheduler * to) noexcept {
    if (to == nullptr) return;
    scheduler_access::arrive(*to, *static_cast<move_awaitable&>(self).self_);
  }

  group& to_;
  coop::detail::strand_block* self_ = nullptr;
};

}  // namespace detail

/// Moves the running strand to another group: what follows runs there, on its processor. At once if
/// it is there already.
///
/// The strand may not take along anything that belongs to its group: a mutex of coop:: that is
/// locked, strands in a scope, awaitables that wait. No handle may refer to it, no strand join it,
/// and it may be in no scope: otherwise this throws std::logic_error. In the new group it has a new
/// number.
///
/// Suspends always, unless it is there; made ready by its new group, soon, when that delivers its
/// messages, on the thread of that. It is destroyed there, too. Costs a message, and for a fiber
/// the way through the loop of each group.
///
/// After the move, `thread_local` variables are the new thread's. In a fiber the compiler may have
/// kept the
/// *address* of such a variable from before, as it knows nothing of threads that change inside a
/// function: Clang in all optimised code, GCC on x86-64 in position-independent code (-fPIC) or
/// where the address is taken. So a fiber that moves should use thread_local variables (errno, too)
/// in functions that are not inlined and do not wait. Tasks are free of that: each suspension ends
/// a function. This library's own variables are found with either compiler.
[[nodiscard]] inline detail::move_awaitable move_to(group& to) noexcept {
  return detail::move_awaitable(to);
}

}  // namespace heddle::coop::parallel

namespace heddle::coop {

// Like await(x) for any other x, but no strand may run before this fiber has left its stack: so it
// switches to run().
inline void await(parallel::detail::move_awaitable& what) {
  if (what.await_ready()) return;
  detail::strand_block& self = detail::waiting_strand(detail::strand_kind::fiber);
  what.begin(self);
  scheduler_access::leave_for_good(self);
  what.end(*detail::this_strand());
}
inline void await(parallel::detail::move_awaitable&& what) { await(what); }

}  // namespace heddle::coop
