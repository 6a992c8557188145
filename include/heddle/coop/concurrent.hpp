#pragma once

#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <thread>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/thread_local.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::coop {

namespace detail {

// Whether to look closer at the next checkpoint of this thread.
// Atomic: the ticker, a thread of its own, sets it.
HEDDLE_THREAD_LOCAL inline constinit thread_local bool slice_flag = false;
HEDDLE_THREAD_ACCESS inline bool slice_flag_is_set() noexcept {
  return __atomic_load_n(&HEDDLE_OF_THREAD(slice_flag, "_ZN6heddle4coop6detail10slice_flagE"),
                         __ATOMIC_RELAXED);
}

/// Whether the running strand has to give way now. Its slice begins anew then.
[[gnu::cold]] bool slice_is_over() noexcept;

struct checkpoint_awaitable {
  bool await_ready() const noexcept {
    if (!slice_flag_is_set()) [[likely]] {
      return true;
    }
    return !slice_is_over();
  }
  void await_suspend(std::coroutine_handle<> handle) const { yield().await_suspend(handle); }
  // A cancellation meanwhile is for the next wait, so that nothing is asked where none was.
  void await_resume() const noexcept {}
};

}  // namespace detail

/// Length of a slice, in checkpoints.
struct checkpoints {
  std::uint32_t count;
};

/// Turns the strands of a scheduler into concurrent processes (CP), as kernel threads on one
/// processor are: as long as it lives, a strand whose time slice is over gives way at its next
/// checkpoint(), *implicitly*: its author does not know where. So shared variables need semaphores,
/// where cooperative strands (CM) need none, and all else is equal: the same strands, the same
/// switch.
///
///     scheduler s;
///     concurrent processes(s, 1ms);
///     s.spawn([&] { for (…) { step(); await(checkpoint()); } });
///
/// At most one on a thread; it belongs to the thread that made it.
class concurrent {
 public:
  /// Slices of that length on the real clock, told by a kernel thread that sleeps in between. Like
  /// a clock tick it does not know who began when: a strand that begins in the middle of a slice
  /// has the rest of it. Throws std::invalid_argument if it is not positive, or if the scheduler's
  /// clock is virtual, on which strands take no time; std::logic_error if there is one on this
  /// thread.
  concurrent(scheduler& on, duration slice);
  /// Slices of so many checkpoints, at least one: the same switches at the same places, run after
  /// run, on any clock. Each checkpoint costs a call then.
  concurrent(scheduler& on, checkpoints slice);
  ~concurrent();
  concurrent(const concurrent&) = delete;
  concurrent& operator=(const concurrent&) = delete;

  /// Implicit switches so far: slices that ended at a checkpoint.
  [[nodiscard]] std::uint64_t switches() const noexcept { return switches_; }

 private:
  friend bool detail::slice_is_over() noexcept;

  explicit concurrent(scheduler& on);
  void tick(bool& flag, duration slice);

  scheduler& on_;
  std::uint32_t per_slice_ = 0;  // checkpoints; 0: slices are told by the ticker
  std::uint32_t left_ = 0;
  std::uint64_t switches_ = 0;

  std::mutex mutex_;  // of the two below
  std::condition_variable ended_;
  bool ending_ = false;
  std::thread ticker_;
};

/// Where a strand may be switched implicitly: to be written on the back edge of each loop that runs
/// for long, `await(checkpoint())` in a fiber, `co_await checkpoint()` in a task. Nothing where
/// there is no `concurrent`, and outside of strands: a kernel with checkpoints serves every model.
///
/// Costs the load of a flag in the thread's own memory and a branch: 0.1 ns in an empty loop of
/// 0.5 ns, nothing that shows in one of 3 ns; but a loop with one in it is not vectorised. (A
/// counter instead of a flag would cost 0.8 ns and more: each decrement waits for the one before.)
///
/// Suspends when the slice is over; it stays ready, and is resumed by the scheduler, from inside
/// the wait or the end of the strand that ran before it, on this thread. Destroyed while it waits:
/// it leaves the ready queue.
[[nodiscard("awaited: co_await it, or await(it) in a fiber")]] inline detail::checkpoint_awaitable
checkpoint() noexcept {
  return {};
}

// Like await(x) for any other x.
[[gnu::always_inline]] inline void await(detail::checkpoint_awaitable what) {
  if (!what.await_ready()) [[unlikely]] {
    await(yield());
  }
}

}  // namespace heddle::coop
