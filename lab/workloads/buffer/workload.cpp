#include "workloads/buffer/workload.hpp"

#include <algorithm>

#include "harness/processors.hpp"

namespace heddle::lab::buffer {
namespace {

// Approximate overhead of an item, in loop iterations: with it, runs of little work do not last
// longer.
constexpr std::int64_t besides = 20;

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("producers", 1, 1, 10'000, "x of xPyCzS"),
      parameter::integer("consumers", 1, 1, 10'000, "y of xPyCzS"),
      parameter::integer("slots", 1, 1, 1'000'000, "z of xPyCzS"),
      parameter::integer("work", 100, 0, 1'000'000'000, "iterations to produce an item"),
      parameter::integer("inside", 2, 0, 1'000'000'000, "iterations of a deposit, and of a fetch"),
      parameter::integer("consume", 2, 0, 1'000'000'000, "iterations to consume an item"),
      parameter::integer("pairs", 0, 0, 1000,
                         "CP: further P and V that each strand makes at each item"),
      parameter::integer("steps", 10'000'000, 1, 1'000'000'000'000,
                         "iterations of all, about: each producer has the same number of items, at "
                         "least 1"),
      parameter::integer("processors", 1, 1, 1000, "to run on"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
      parameter::integer("slice-steps", 10'000, 1, 1'000'000'000,
                         "concurrent/counted: a slice in iterations"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("steps", std::min<std::int64_t>(values.integer("steps"), 10'000))
      .with("work", std::min<std::int64_t>(values.integer("work"), 1000))
      .with("inside", std::min<std::int64_t>(values.integer("inside"), 1000))
      .with("consume", std::min<std::int64_t>(values.integer("consume"), 1000));
}

problem::problem(const parameters& values)
    : work_(values.integer("work")),
      inside_(values.integer("inside")),
      consume_(values.integer("consume")),
      items_(std::max<std::int64_t>(1, values.integer("steps") / values.integer("producers") /
                                           (work_ + 2 * inside_ + consume_ + besides))),
      pairs_(static_cast<int>(values.integer("pairs"))),
      slice_ns_(1000 * values.integer("slice-us")),
      slice_steps_(values.integer("slice-steps")),
      producers_(static_cast<std::size_t>(values.integer("producers"))),
      consumers_(static_cast<std::size_t>(values.integer("consumers"))),
      slots_(static_cast<std::size_t>(values.integer("slots"))) {
  for (std::size_t i = 0; i < producers_.size(); ++i) producers_[i].value = i;
  pin_to_processors(static_cast<int>(values.integer("processors")));
}

void problem::waited(const waits& done) {
  evaluations_ += done.evaluations;
  count().strand_switches += done.switches;
}

verdict problem::check() const {
  std::uint64_t produced = 0;
  std::uint64_t consumed = 0;
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < producers_.size(); ++i) {
    missing +=
        std::max(items_, producers_[i].due.load()) - std::min(items_, producers_[i].due.load());
    std::uint64_t value = i;
    for (std::int64_t item = 0; item < items_; ++item) {
      value = after_work(value, static_cast<std::uint64_t>(work_));
      produced += value;
    }
  }
  for (const sink& each : consumers_) consumed += each.sum;
  const std::string expected =
      "each of " + std::to_string(all_items()) + " items once, and each producer's in order";
  if (wrong_ != 0 || missing != 0 || produced != consumed) {
    return {false, "expected: " + expected + "; " + std::to_string(wrong_) + " came out of turn, " +
                       std::to_string(missing) +
                       " were lost or came too often, and those that came add up to " +
                       std::to_string(consumed) + " instead of " + std::to_string(produced)};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto items = static_cast<double>(all_items());
  const auto each = [items](std::uint64_t all) { return static_cast<double>(all) / items; };
  const std::int64_t iterations = all_items() * (work_ + 2 * inside_ + consume_);
  const counters& counted = timed.counted();
  std::uint64_t consumed = 0;
  for (const sink& one : consumers_) consumed += one.sum;
  out.result = std::to_string(consumed);
  out.metrics.add("item_ns", each(timed.wall_ns())).add("item_cpu_ns", each(timed.cpu_ns()));
  out.counters.add("items", all_items())
      .add("iterations", iterations)
      .add("checkpoints", has_checkpoints_ ? iterations : 0)
      .add("p_operations_per_item", each(counted.p_operations))
      .add("blocked_p_operations_per_item", each(counted.blocked_p_operations))
      .add("strand_switches_per_item", each(counted.strand_switches))
      .add("vain_evaluations", evaluations_)
      .add("vain_evaluations_per_item", each(evaluations_));
}

}  // namespace heddle::lab::buffer
