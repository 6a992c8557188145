#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::switching {

/// One strand's side of the oracle: proves, at the price of a store and a load that nothing waits
/// for, that turns were taken in round-robin order.
///
/// Invariant: when strand i takes its turn t, the strand before it has taken its own turn t (for
/// i = 0: the last strand has taken t - 1). If that held at every turn, there was only one order.
class turns {
 public:
  turns(std::int64_t* mine, const std::int64_t* before, std::int64_t lag)
      : mine_(mine), before_(before), lag_(lag) {}

  void take() {
    const std::int64_t turn = *mine_ + 1;
    *mine_ = turn;
    out_of_turn_ += *before_ != turn - lag_;
  }

  [[nodiscard]] std::int64_t out_of_turn() const { return out_of_turn_; }

 private:
  std::int64_t* mine_;
  const std::int64_t* before_;
  std::int64_t lag_;
  std::int64_t out_of_turn_ = 0;
};

/// `contexts` strands, each of which runs `for counter: yield`, round robin: the program that both
/// sources time (the FiberContext article for its plots, the goroutine article with two strands).
///
/// A *switch* is one transfer of the processor from one flow of control to another, a *yield* the
/// way from one strand's turn to the next strand's:
/// - `style=direct`: a strand hands over to the next one itself; a yield is one switch.
/// - `style=scheduler`: as in the FiberContext article, Yield() returns to the scheduler in the
/// main
///   context, which resumes the next; a yield is two switches.
/// - serial, serial/syscall: a call, a system call, in place of each yield; counted as one switch.
/// - process/pipe: a byte written to the next process's pipe, which is blocked reading it: one
/// switch.
/// - goroutine: a Gosched, which goes through Go's scheduler: one switch, as the source counts.
///
/// Metrics: `switch_ns` = wall / switches, `switch_cpu_ns` = processor time of this process /
/// switches (of process/pipe, strand 0's share only), `yield_ns` = wall / (contexts × counter).
/// `wall_ns` is the run alone; `total_ns` includes creating and deleting the strands, as the
/// FiberContext article timed it (there with the process's start, too).
class problem {
 public:
  static constexpr std::string_view name = "switch";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);
  ~problem();
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  [[nodiscard]] int contexts() const { return contexts_; }
  [[nodiscard]] std::int64_t counter() const { return counter_; }
  [[nodiscard]] bool direct() const { return direct_; }

  /// The object with which strand `index` counts its turns.
  [[nodiscard]] turns turns_of(int index);
  /// Each strand, when it has taken its last turn.
  void finish(const turns& taken);
  /// The model, at the end: transfers a yield.
  void switches_per_yield(std::int64_t switches) { switches_per_yield_ = switches; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // In shared memory, so that strands may be processes: the turns out of order, then each strand's
  // number of turns.
  [[nodiscard]] std::int64_t* counts() const { return shared_ + 1; }
  [[nodiscard]] std::int64_t yields() const { return counter_ * contexts_; }

  parameters values_;
  int contexts_;
  std::int64_t counter_;
  bool direct_;
  std::int64_t* shared_;
  std::int64_t switches_per_yield_ = 1;
};

}  // namespace heddle::lab::switching
