#include "workloads/preemption/workload.hpp"

#include <algorithm>

#include "harness/processors.hpp"

namespace heddle::lab::preemption {

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("hogs", 2, 1, 1000, "strands that compute"),
      parameter::integer("steps", 200'000, 1, 1'000'000'000, "of each, 0.1 µs a step"),
      parameter::integer("sleep-us", 1000, 1, 1'000'000, "what the other strand sleeps at a time"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
      parameter::integer("slice-steps", 0, 0, 1'000'000'000,
                         "concurrent: a slice in steps instead, if not 0"),
      parameter::integer("yield-steps", 0, 0, 1'000'000'000,
                         "cooperative: a hog yields after so many; 0: never"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("steps", std::min<std::int64_t>(values.integer("steps"), 1000));
}

problem::problem(const parameters& values)
    : hogs_(values.integer("hogs")),
      steps_(values.integer("steps")),
      sleep_ns_(1000 * values.integer("sleep-us")),
      slice_ns_(1000 * values.integer("slice-us")),
      slice_steps_(values.integer("slice-steps")),
      yield_steps_(values.integer("yield-steps")),
      progress_(static_cast<std::size_t>(hogs_)) {
  pin_to_one_processor();
}

void problem::changed_turn(int hog) {
  running_.store(hog, std::memory_order_relaxed);
  turns_.fetch_add(1, std::memory_order_relaxed);
  std::int64_t least = steps_;
  std::int64_t most = 0;
  for (const auto& each : progress_) {
    const std::int64_t steps = each.load(std::memory_order_relaxed);
    least = std::min(least, steps);
    most = std::max(most, steps);
  }
  if (most - least > lead_.load(std::memory_order_relaxed)) {
    lead_.store(most - least, std::memory_order_relaxed);
  }
}

void problem::finish(std::uint64_t value) {
  sum_.fetch_add(value, std::memory_order_relaxed);
  finished_.fetch_add(1, std::memory_order_relaxed);
}

void problem::woken(std::int64_t late_ns) {
  ++wakes_;
  late_ns_ += late_ns;
  latest_ns_ = std::max(latest_ns_, late_ns);
}

verdict problem::check() const {
  std::uint64_t expected = 0;
  for (std::int64_t hog = 0; hog < hogs_; ++hog) {
    std::uint64_t value = static_cast<std::uint64_t>(hog);
    for (std::int64_t i = 0; i < steps_; ++i) value = step(value);
    expected += value;
  }
  if (sum_ != expected || finished_ != hogs_) {
    return {false, "expected: " + std::to_string(hogs_) + " hogs whose results add up to " +
                       std::to_string(expected) + "; there were " + std::to_string(finished_) +
                       " and " + std::to_string(sum_)};
  }
  if (wakes_ == 0) return {false, "expected: the sleeper runs; it never did"};
  if (promised_lead_ >= 0 && lead_ > promised_lead_) {
    return {false, "expected: no hog ahead of another by more than " +
                       std::to_string(promised_lead_) + " steps; one was by " +
                       std::to_string(lead_)};
  }
  return {true, "results of all hogs, and that the sleeper ran" +
                    std::string(promised_lead_ >= 0 ? ", and the turns' fairness" : "")};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  out.metrics.add("lateness_ns", static_cast<double>(late_ns_) / static_cast<double>(wakes_))
      .add("latest_ns", latest_ns_)
      .add("wakes", wakes_)
      .add("turns", turns_.load())
      .add("lead", static_cast<double>(lead_) / static_cast<double>(steps_))
      .add("step_ns", static_cast<double>(timed.wall_ns()) / static_cast<double>(steps_ * hogs_));
}

}  // namespace heddle::lab::preemption
