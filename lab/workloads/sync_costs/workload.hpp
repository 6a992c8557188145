#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::sync_costs {

/// Measures the cost of one operation of synchronisation (Euro-Par 2000, section 3: "several
/// micro-benchmarks"), `count` times with nothing else in the loop:
/// - `p`: a P that takes a permit at once;
/// - `v`: a V for which no strand waits;
/// - `handoff`: a P that blocks: two strands wake each other by a V and wait by a P, so it is both
///   of them and a switch;
/// - `yield`: a context switch, between two strands that give way to each other.
///
/// All on one processor. Metrics: `op_ns` = wall / count, `op_cpu_ns` = processor time / count.
class problem {
 public:
  static constexpr std::string_view name = "sync-costs";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] const std::string& operation() const { return operation_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// A hand-over: they must come in the order 0, 1, 2 …
  void take_turn(std::int64_t place) {
    if (place != done_.load(std::memory_order_relaxed)) ++wrong_;
    done_.store(place + 1, std::memory_order_relaxed);
  }
  /// Some were done, in any order.
  void did(std::int64_t operations) { done_.fetch_add(operations, std::memory_order_relaxed); }
  /// Permits that the semaphore of `p` or `v` has at the end.
  void permits(std::uint64_t left) { permits_ = static_cast<std::int64_t>(left); }

  /// Under the kernel a yield may be none: how often it switched. Our schedulers' yields switch
  /// whenever another strand is ready.
  void kernel_switched(std::uint64_t times) { kernel_switches_ = times; }

  /// Under our scheduler each yield is a switch.
  void count_yields() const {
    if (operation_ == "yield") lab::count().strand_switches += static_cast<std::uint64_t>(count_);
  }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::string operation_;
  std::int64_t count_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> wrong_{0};
  std::int64_t permits_ = 0;
  std::optional<std::uint64_t> kernel_switches_;
};

/// After each P or V: the compiler may not make one of several.
inline void one_by_one() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace heddle::lab::sync_costs
