#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::preemption {

/// `hogs` strands that compute and never wait, beside one that sleeps `sleep-us` and wants to run
/// then, again and again until they are done. All on one processor.
///
/// - thread: the kernel switches. thread/nice, thread/fifo: the sleeper has a higher priority than
///   the hogs, by their nice value or by the policy SCHED_FIFO.
/// - concurrent: our scheduler switches at checkpoints, one a step, when a slice is over: a slice
///   of time, or of `slice-steps` checkpoints.
/// - cooperative, tokio: it switches where a hog yields: after each `yield-steps` steps, or never.
/// - goroutine: Go's runtime interrupts a goroutine by a signal when it has run for 10 ms (1.14 and
///   newer); goroutine/cooperative: it does not, as before that, by GODEBUG=asyncpreemptoff=1.
///
/// Metrics: `lateness_ns`, from when the sleeper wanted to run to when it did, the mean, and
/// `latest_ns`, the worst; `turns`, how often another hog went on; `lead`, the most that one hog
/// was ahead of another, as a share of its work: how unfair it was; `step_ns` = wall / all steps.
class problem {
 public:
  static constexpr std::string_view name = "preemption";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int hogs() const { return static_cast<int>(hogs_); }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t sleep_ns() const { return sleep_ns_; }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  [[nodiscard]] std::int64_t slice_steps() const { return slice_steps_; }
  [[nodiscard]] std::int64_t yield_steps() const { return yield_steps_; }

  /// A hog's work; `between(i)` is called after its step i, 1 for the first.
  template <class Between>
  void compute(int hog, Between&& between) {
    computation all(*this, hog);
    all.run(steps_, between);
  }

  /// A hog's work in pieces, for those who cannot wait inside of a call.
  class computation {
   public:
    computation(problem& work, int hog)
        : work_(work), hog_(hog), value_(static_cast<std::uint64_t>(hog)) {}

    /// Takes up to so many steps; whether there are more.
    bool run(std::int64_t steps) {
      return run(steps, [](std::int64_t) {});
    }
    template <class Between>
    bool run(std::int64_t steps, Between&& between) {
      const std::int64_t end = std::min(work_.steps_, done_ + steps);
      while (done_ < end) {
        value_ = step(value_);
        work_.progressed(hog_, ++done_);
        between(done_);
      }
      if (done_ == work_.steps_) work_.finish(value_);
      return done_ < work_.steps_;
    }

   private:
    problem& work_;
    int hog_;
    std::uint64_t value_;
    std::int64_t done_ = 0;
  };

  [[nodiscard]] bool computing() const { return finished_.load(std::memory_order_relaxed) < hogs_; }

  /// The sleeper runs, this long after it wanted to.
  void woken(std::int64_t late_ns);
  /// The model, at the end: no hog may have been ahead of another by more than so many steps.
  void promise_fairness(std::int64_t steps) { promised_lead_ = steps; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // A tenth of a microsecond, about, each operation waiting for the one before.
  static std::uint64_t step(std::uint64_t value) {
    for (int i = 0; i < 64; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
    return value;
  }
  void progressed(int hog, std::int64_t steps) {
    progress_[static_cast<std::size_t>(hog)].store(steps, std::memory_order_relaxed);
    if (running_.load(std::memory_order_relaxed) != hog) [[unlikely]] {
      changed_turn(hog);
    }
  }
  void changed_turn(int hog);
  void finish(std::uint64_t value);

  std::int64_t hogs_;
  std::int64_t steps_;
  std::int64_t sleep_ns_;
  std::int64_t slice_ns_;
  std::int64_t slice_steps_;
  std::int64_t yield_steps_;

  // Relaxed everywhere: all hogs share a processor, and are joined before anything is read that
  // has to be exact.
  std::vector<std::atomic<std::int64_t>> progress_;
  std::atomic<int> running_{0};
  std::atomic<std::int64_t> turns_{0};
  std::atomic<std::int64_t> lead_{0};
  std::atomic<std::int64_t> finished_{0};
  std::atomic<std::uint64_t> sum_{0};
  std::int64_t promised_lead_ = -1;  // none

  std::int64_t wakes_ = 0;
  std::int64_t late_ns_ = 0;
  std::int64_t latest_ns_ = 0;
};

}  // namespace heddle::lab::preemption
