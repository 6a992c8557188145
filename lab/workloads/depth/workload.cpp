#include "workloads/depth/workload.hpp"

#include <algorithm>
#include <string>

#include "harness/processors.hpp"

namespace heddle::lab::depth {

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("depth", 16, 1, 1000, "calls in a chain"),
      parameter::integer("work", 200'000, 1, 1'000'000'000,
                         "calls altogether, about: one chain at least"),
      parameter::word("chain", {"waiting", "source"}, "like for like, or as async_simple has it"),
  };
}

parameters problem::small(const parameters& values) { return values.with("work", 2000); }

problem::problem(const parameters& values)
    : depth_(values.integer("depth")),
      work_(values.integer("work")),
      waits_(values.word("chain") == "waiting") {
  pin_to_one_processor();
}

std::int64_t problem::chains(std::int64_t most) const {
  return std::clamp<std::int64_t>(work_ / depth_, 1, most);
}

verdict problem::check() const {
  const std::string expected = std::to_string(chains_) + " chains of " + std::to_string(depth_) +
                               " calls, each with the sum of their numbers";
  if (chains_ == 0 || wrong_ != 0) {
    return {false, "expected: " + expected + "; " + std::to_string(wrong_) + " were wrong"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto wall = static_cast<double>(timed.wall_ns());
  const auto cpu = static_cast<double>(timed.cpu_ns());
  const auto chains = static_cast<double>(chains_);
  out.metrics.add("chain_ns", wall / chains)
      .add("chain_cpu_ns", cpu / chains)
      .add("call_cpu_ns", cpu / (chains * static_cast<double>(depth_)));
  const counters& counted = timed.counted();
  out.counters.add("allocations_per_chain", static_cast<double>(counted.allocations) / chains)
      .add("switches_per_chain", static_cast<double>(counted.strand_switches) / chains);
  if (waits_) out.counters.add("plain_calls_per_chain", plain_calls_ ? depth_ : 0);
}

}  // namespace heddle::lab::depth
