#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::coop_speed {

/// Measures the cost of our scheduler, one row at a time, with nothing else in the loop:
/// - `yield`: `strands` strands yield `count` times each, round robin, once all have
///   started; an operation is one yield.
/// - `spawn`: `count` batches, each spawns `strands` strands that do next to nothing and runs them
///   to their end; an operation is one strand.
/// - `handoff`: two strands, two semaphores: each wakes the other (V) and waits (P), `count` times;
///   an operation is one hand-over.
/// - `channel`: a producer hands `count` values to a consumer through a channel with one slot; an
///   operation is one value.
/// - `idle`: `strands` strands that have started wait for a semaphore; `strand_bytes` is what the
///   process has grown by, page tables included, for each. An operation is the life of one.
///
/// The models without a scheduler are what there is to reach: `fiber/asm` (a bare switch) knows
/// how to yield only, `stackless` (bare C++20 coroutines) how to yield, spawn and be idle.
///
/// Metrics: `op_ns` = wall / operations; `op_cpu_ns` = processor time / operations; `strand_bytes`
/// (idle only).
class problem {
 public:
  static constexpr std::string_view name = "coop-speed";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] const std::string& row() const { return row_; }
  [[nodiscard]] std::int64_t strands() const { return strands_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// A turn, or a value: they must come in the order 0, 1, 2 …
  void take_turn(std::int64_t place) {
    if (place != done_) [[unlikely]] {
      ++wrong_;
    }
    done_ = place + 1;
  }
  /// An operation, in any order.
  void did_one() { ++done_; }
  /// Several, in any order.
  void did(std::int64_t operations) { done_ += operations; }
  /// A value was wrong.
  void went_wrong() { ++wrong_; }
  /// For `idle`: how large the process is, before any strand is there and while all wait.
  void measure_empty();
  void measure_full();

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  [[nodiscard]] std::int64_t operations() const;

  std::string row_;
  std::int64_t strands_;
  std::int64_t count_;
  std::int64_t done_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t empty_bytes_ = 0;
  std::int64_t full_bytes_ = 0;
};

}  // namespace heddle::lab::coop_speed
