#include "workloads/readers_writers/workload.hpp"

#include <algorithm>

#include "harness/processors.hpp"

namespace heddle::lab::readers_writers {
namespace {

// Approximate overhead of a visit, in loop iterations: with it, runs of little work do not last
// longer.
constexpr std::int64_t besides = 10;

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("readers", 8, 0, 10'000, "strands that read"),
      parameter::integer("writers", 2, 1, 10'000, "strands that write"),
      parameter::integer("work", 100, 0, 1'000'000'000, "iterations between two visits"),
      parameter::integer("inside", 10, 0, 1'000'000'000, "iterations of reading, or writing"),
      parameter::integer("steps", 10'000'000, 1, 1'000'000'000'000,
                         "iterations of all, about: each has the same number of visits, at least "
                         "1"),
      parameter::word("yield", {"none", "outside", "inside", "both"},
                      "cooperative: where a strand also gives way"),
      parameter::integer("yields-inside", 0, 0, 1000, "how often each gives way during a visit"),
      parameter::integer("processors", 1, 1, 1000, "to run on"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
      parameter::integer("slice-steps", 10'000, 1, 1'000'000'000,
                         "concurrent/counted: a slice in iterations"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("steps", std::min<std::int64_t>(values.integer("steps"), 10'000))
      .with("work", std::min<std::int64_t>(values.integer("work"), 1000))
      .with("inside", std::min<std::int64_t>(values.integer("inside"), 1000));
}

problem::problem(const parameters& values)
    : work_(values.integer("work")),
      inside_(values.integer("inside")),
      readers_(static_cast<int>(values.integer("readers"))),
      writers_(static_cast<int>(values.integer("writers"))),
      visits_(std::max<std::int64_t>(
          1, values.integer("steps") / (readers_ + writers_) / (work_ + inside_ + besides))),
      yields_outside_(values.word("yield") == "outside" || values.word("yield") == "both"),
      yields_inside_(static_cast<int>(values.integer("yields-inside"))),
      also_yields_inside_(values.word("yield") == "inside" || values.word("yield") == "both"),
      slice_ns_(1000 * values.integer("slice-us")),
      slice_steps_(values.integer("slice-steps")),
      strands_(static_cast<std::size_t>(readers_ + writers_)) {
  for (std::size_t i = 0; i < strands_.size(); ++i) strands_[i].value = i;
  pin_to_processors(static_cast<int>(values.integer("processors")));
}

void problem::waited(const waits& done) {
  evaluations_ += done.evaluations;
  count().strand_switches += done.switches;
}

verdict problem::check() const {
  std::int64_t disturbed = 0;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    disturbed += strands_[i].disturbed;
    const auto iterations = static_cast<std::uint64_t>(visits_ * (work_ + inside_));
    if (strands_[i].visits != visits_ || strands_[i].value != after_work(i, iterations)) ++wrong;
  }
  if (disturbed != 0) {
    return {false,
            "expected: no writer beside a reader or another writer; a record was not as it "
            "had to be " +
                std::to_string(disturbed) + " times"};
  }
  const std::int64_t writes = visits_ * writers_;
  if (wrong != 0 || record_.front() != writes || record_.back() != writes) {
    return {false, "expected: " + std::to_string(visits_) + " visits of each, " +
                       std::to_string(writes) + " writes; " + std::to_string(wrong) +
                       " strands made others, and the record was written " +
                       std::to_string(record_.back()) + " times"};
  }
  return {true, "no writer beside a reader or another writer, " + std::to_string(visits_) +
                    " visits of each, and none of " + std::to_string(writes) + " writes was lost"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const std::int64_t all = visits_ * strands();
  const auto each = [all](std::uint64_t total) {
    return static_cast<double>(total) / static_cast<double>(all);
  };
  const std::int64_t iterations = all * (work_ + inside_);
  const counters& counted = timed.counted();
  std::uint64_t computed = 0;
  for (const auto& one : strands_) computed += one.value;
  out.result = std::to_string(computed);
  out.metrics.add("visit_ns", each(timed.wall_ns())).add("visit_cpu_ns", each(timed.cpu_ns()));
  out.counters.add("visits", all)
      .add("iterations", iterations)
      .add("checkpoints", has_checkpoints_ ? iterations : 0)
      .add("p_operations_per_visit", each(counted.p_operations))
      .add("blocked_p_operations_per_visit", each(counted.blocked_p_operations))
      .add("strand_switches_per_visit", each(counted.strand_switches))
      .add("vain_evaluations", evaluations_)
      .add("vain_evaluations_per_visit", each(evaluations_));
}

}  // namespace heddle::lab::readers_writers
