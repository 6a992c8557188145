#include "workloads/sync_costs/workload.hpp"

#include <algorithm>

#include "harness/processors.hpp"

namespace heddle::lab::sync_costs {

std::vector<parameter> problem::declare() {
  return {
      parameter::word("operation", {"p", "v", "handoff", "yield"}, "what is timed"),
      parameter::integer("count", 100'000, 2, 1'000'000'000, "how often"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("count", std::min<std::int64_t>(values.integer("count"), 1000));
}

problem::problem(const parameters& values)
    : operation_(values.word("operation")), count_(values.integer("count")) {
  pin_to_one_processor();
}

verdict problem::check() const {
  const std::int64_t left = operation_ == "v" ? count_ : 0;
  const std::string expected = std::to_string(count_) + " operations (" + operation_ + "), and " +
                               std::to_string(left) + " permits left";
  if (done_ != count_ || wrong_ != 0 || permits_ != left) {
    return {false, "expected: " + expected + "; there were " + std::to_string(done_) +
                       ", of which " + std::to_string(wrong_) + " out of turn, and " +
                       std::to_string(permits_) + " permits"};
  }
  // A tenth for a thread that goes on alone when the other is done.
  const auto least = static_cast<std::uint64_t>(count_) * 9 / 10;
  if (operation_ == "yield" && kernel_switches_ && *kernel_switches_ < least) {
    return {false, "expected: " + std::to_string(count_) +
                       " yields that switch to the other thread; the kernel switched " +
                       std::to_string(*kernel_switches_) + " times, so a yield is no switch here"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto count = static_cast<double>(count_);
  out.metrics.add("op_ns", static_cast<double>(timed.wall_ns()) / count)
      .add("op_cpu_ns", static_cast<double>(timed.cpu_ns()) / count);
}

}  // namespace heddle::lab::sync_costs
