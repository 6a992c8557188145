#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::spawning {

/// `strands` strands are made, each runs once, does next to nothing, and ends; `outstanding` of
/// them at a time: so many are made before the first of them may run, and have all ended before the
/// next is made (0: all at once). What the goroutine article calls creation and scheduling.
///
/// - serial: a call; serial/syscall: a system call, with which the article compares.
/// - process/fork, thread: the kernel runs them when it likes, on the one processor that all use.
/// - fiber/*: a context each, on a stack from our pool; stackless: a bare C++20 coroutine.
/// - the others go through their runtime's scheduler.
///
/// Metrics: `strand_ns` = wall / strands; `strand_cpu_ns` = processor time / strands (of
/// process/fork: the parent's alone).
class problem {
 public:
  static constexpr std::string_view name = "spawn";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);
  ~problem();
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  [[nodiscard]] std::int64_t strands() const { return strands_; }
  [[nodiscard]] std::int64_t outstanding() const { return outstanding_; }

  /// Calls `batch(first, end)` for each lot of strands that are to be alive at once.
  template <class Batch>
  void in_batches(const Batch& batch) {
    for (std::int64_t first = 0; first < strands_; first += outstanding_) {
      batch(first, std::min(strands_, first + outstanding_));
    }
  }

  /// A strand's whole work, where one runs at a time.
  void ran(std::int64_t strand) {
    ++tally_->ran;
    tally_->sum += strand;
  }
  /// The same where they may run at once, or in processes of their own.
  void ran_somewhere(std::int64_t strand);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // In shared memory, so that strands may be processes.
  struct tally {
    std::int64_t ran;
    std::int64_t sum;  // of their numbers, from 0
  };

  std::int64_t strands_;
  std::int64_t outstanding_;
  tally* tally_;
};

}  // namespace heddle::lab::spawning
