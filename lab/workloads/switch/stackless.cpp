#include <coroutine>

#include "heddle/coop/task.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// Suspends to the resumer, and leaves the handle by which the coroutine is resumed.
struct arrive {
  std::coroutine_handle<>& place;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const noexcept { place = self; }
  void await_resume() const noexcept {}
};

// Symmetric transfer: the next strand runs in our place, on the same machine stack.
struct hand_over {
  std::coroutine_handle<> next;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return next; }
  void await_resume() const noexcept {}
};

coop::task<void> yields_to_scheduler(problem& work, int self, std::coroutine_handle<>& place) {
  turns mine = work.turns_of(self);
  co_await arrive{place};
  for (std::int64_t i = 0; i < work.counter(); ++i) {
    mine.take();
    co_await std::suspend_always{};
  }
  work.finish(mine);
}

coop::task<void> yields_to_next(problem& work, int self, std::coroutine_handle<>& place,
                                const std::coroutine_handle<>& next) {
  turns mine = work.turns_of(self);
  co_await arrive{place};
  for (std::int64_t i = 0; i < work.counter(); ++i) {
    mine.take();
    co_await hand_over{next};
  }
  work.finish(mine);
}

void run(problem& work, region& timed) {
  const auto contexts = static_cast<std::size_t>(work.contexts());
  std::vector<std::coroutine_handle<>> handles(contexts);
  std::vector<coop::task<void>> strands;
  strands.reserve(contexts);
  for (std::size_t i = 0; i < contexts; ++i) {
    const int self = static_cast<int>(i);
    strands.push_back(work.direct()
                          ? yields_to_next(work, self, handles[i], handles[(i + 1) % contexts])
                          : yields_to_scheduler(work, self, handles[i]));
    strands.back().resume();
  }
  timed.begin();
  if (work.direct()) {
    handles.front().resume();  // returns when strand 0 has run once more than it had turns to take
  } else {
    for (std::int64_t round = 0; round <= work.counter(); ++round) {  // in the last, they return
      for (const std::coroutine_handle<> each : handles) each.resume();
    }
  }
  timed.end();
  for (const auto& each : strands) {
    if (!each.done()) each.resume();
  }
  work.switches_per_yield(work.direct() ? 1 : 2);
  count().strand_switches +=
      static_cast<std::uint64_t>(work.contexts() * work.counter() * (work.direct() ? 1 : 2));
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::switching
