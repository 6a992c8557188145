#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/task.hpp"

namespace heddle::coop {

namespace detail {

// The continuation of a task that a fiber awaits: the task's end resumes it.
struct end_mark : frame_header {
  bool reached = false;
  end_mark() noexcept : frame_header{&reach} {}
  static void reach(frame_header* self) { static_cast<end_mark*>(self)->reached = true; }
  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<>::from_address(static_cast<frame_header*>(this));
  }
};

/// Runs a task to its end on the running fiber: each time it waits, the fiber does.
void run_on_fiber(strand_block& self, std::coroutine_handle<> start, const end_mark& end);

// Runs a body that needs a stack in a strand of its own.
template <class F>
struct call_on_fiber {
  stack_size stack;
  F body;
  using result = strand_result<F>;
  task<result> operator()(scope& children) {
    const strand<result> own = children.spawn(stack, std::move(body));
    co_return co_await own.join();
  }
};

}  // namespace detail

/// In a fiber: runs `what`, as part of this strand, and returns its result, or throws what it
/// throws. Ends the program with a message where there is no fiber, as any await().
///
/// Suspends the fiber whenever the task, or one that it awaits, waits; made ready as that wait is.
/// Between its waits the task runs on the fiber's stack, inside this call. A cancellation of the
/// strand, a timeout or an exception meets the innermost first. Destroyed while it waits: the task
/// is destroyed, and what lives in it, from the inside; then the fiber unwinds.
///
/// Costs a frame for each task, and no strand.
template <class T>
T await(task<T> what) {
  detail::strand_block& self = detail::waiting_strand(detail::strand_kind::fiber);
  detail::end_mark end;
  detail::run_on_fiber(self, what.start(end.handle()), end);
  return what.result();
}

/// In a task: `co_await on_fiber(body)` runs `body()` where it can await() from nested calls: with
/// a stack of its own, in a strand of its own, whose end is waited for. Results in what `body`
/// returns, which is no reference, or throws what it throws.
///
/// Suspends until that strand has ended; made ready by its end, from inside the scheduler, on this
/// thread. A cancellation is passed on to that strand and waited for, so that nothing outlives the
/// wait. Destroyed while it waits, which only the scheduler's destructor does: that strand is
/// destroyed before.
///
/// Costs a strand and a stack from the pool, of the scheduler's size or the one given.
template <class F>
auto on_fiber(stack_size stack, F body) {
  using result = detail::strand_result<F>;
  static_assert(!detail::is_task<std::invoke_result_t<F&>>, "a task needs no fiber: co_await it");
  return detail::task_in_scope<result>(
      nullptr, detail::scope_body<result>(detail::call_on_fiber<F>{stack, std::move(body)}));
}
template <class F>
auto on_fiber(F body) {
  return on_fiber(stack_size{}, std::move(body));
}

}  // namespace heddle::coop
