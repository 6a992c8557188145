#include "workloads/group_speed/workload.hpp"

#include <algorithm>

#include "harness/processors.hpp"

namespace heddle::lab::group_speed {

std::vector<parameter> problem::declare() {
  return {
      parameter::word("row", {"handoff", "request", "wake", "move"}, "what is timed"),
      parameter::integer("count", 100'000, 2, 1'000'000'000,
                         "hand-overs, requests, wake-ups, moves"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("count", std::min<std::int64_t>(values.integer("count"), 20));
}

problem::problem(const parameters& values)
    : row_(values.word("row")), count_(values.integer("count")) {
  if (processors() < 2) {
    throw cannot_run("two processors are to wait for each other, and this process may use one");
  }
  wake_ns_.reserve(row_ == "wake" ? static_cast<std::size_t>(count_) : 0);
}

verdict problem::check() const {
  if (row_ == "wake") {
    const std::string expected = std::to_string(count_) + " wake-ups";
    if (std::ssize(wake_ns_) == count_) return {true, expected};
    return {false, "expected: " + expected + "; there were " + std::to_string(wake_ns_.size())};
  }
  // The first place of each side's parity that is not below `turns`.
  const std::int64_t ends[2] = {(turns() + 1) / 2 * 2, turns() / 2 * 2 + 1};
  for (std::size_t i = 0; i < 2; ++i) {
    if (sides_[i].next != ends[i] || sides_[i].wrong != 0) {
      return {false, "expected: the turns of side " + std::to_string(i) + " up to " +
                         std::to_string(ends[i]) + "; its next one would be " +
                         std::to_string(sides_[i].next) + ", and " +
                         std::to_string(sides_[i].wrong) + " were out of order"};
    }
  }
  return {true, std::to_string(turns()) + " turns in order, from side to side"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto ops = static_cast<double>(count_);
  out.metrics.add("op_ns", static_cast<double>(timed.wall_ns()) / ops)
      .add("op_cpu_ns", static_cast<double>(timed.cpu_ns()) / ops)
      .add("operations", count_);
  if (!wake_ns_.empty()) {
    std::vector<std::uint64_t> sorted = wake_ns_;
    std::sort(sorted.begin(), sorted.end());
    out.metrics.add("wake_ns", static_cast<double>(sorted[sorted.size() / 2]));
  }
}

}  // namespace heddle::lab::group_speed
