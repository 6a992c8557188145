#include <condition_variable>
#include <mutex>
#include <thread>

#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// Keeps whose turn it is under one mutex, and a condition variable for each thread to wait for its
// own: a hand-over wakes exactly the thread that goes on. On one processor the woken thread runs
// when we wait, which also frees the mutex.
class baton {
 public:
  explicit baton(int holders) : given_(static_cast<std::size_t>(holders)) {}

  /// Waits until it is `self`'s turn.
  void wait_for(int self) {
    std::unique_lock lock(mutex_);
    wait(lock, self);
  }

  void hand_over(int self, int next, bool wait_again) {
    std::unique_lock lock(mutex_);
    holder_ = next;
    given_[static_cast<std::size_t>(next)].notify_one();
    if (wait_again) wait(lock, self);
  }

 private:
  void wait(std::unique_lock<std::mutex>& lock, int self) {
    counters& mine = count();
    ++mine.p_operations;
    if (holder_ != self) ++mine.blocked_p_operations;
    given_[static_cast<std::size_t>(self)].wait(lock, [&] { return holder_ == self; });
  }

  std::mutex mutex_;
  std::vector<std::condition_variable> given_;
  int holder_ = -1;
};

void run(problem& work, region& timed) {
  const int main_thread = work.contexts();
  const std::int64_t counter = work.counter();
  baton turn(work.contexts() + 1);

  const auto body = [&](int self) {
    turns mine = work.turns_of(self);
    // The first turn is not counted: a thread that has had it has started, and waits.
    turn.wait_for(self);
    turn.hand_over(self, main_thread, true);
    for (std::int64_t i = 0; i < counter; ++i) {
      mine.take();
      const bool last = i + 1 == counter;
      int next = work.direct() ? self + 1 : main_thread;
      if (work.direct() && next == main_thread && !last) next = 0;
      turn.hand_over(self, next, !last);
    }
    work.finish(mine);
  };

  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()) + 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < work.contexts(); ++i) {
    threads.emplace_back(body, i);
    turn.hand_over(main_thread, i, true);
  }
  timed.begin();
  if (work.direct()) {
    turn.hand_over(main_thread, 0, true);
  } else {
    for (std::int64_t round = 0; round < counter; ++round) {
      for (int i = 0; i < work.contexts(); ++i) turn.hand_over(main_thread, i, true);
    }
  }
  timed.end();
  threads.clear();  // joins
  work.switches_per_yield(work.direct() ? 1 : 2);
  count().strand_switches +=
      static_cast<std::uint64_t>(work.contexts() * counter * (work.direct() ? 1 : 2));
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::switching
