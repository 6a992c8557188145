#include "workloads/survey/workload.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/processors.hpp"
#include "workloads/survey/valgrind.hpp"

namespace heddle::lab::surveying {
namespace {

std::int64_t kernel_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// The number that the comparison gives each sample of a cell, from 0.
std::int64_t sample_of_cell() {
  const char* const sample = std::getenv("HEDDLE_SAMPLE");
  return sample == nullptr ? 0 : std::atoll(sample);
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("yields", 100'000, 1, 1'000'000'000, "of the strand that is timed"),
      parameter::integer("debugger", 0, 0, 1'000'000,
                         "of a cell's samples, the first ones that ask gdb what it sees"),
      parameter::integer("valgrind", 0, 0, 1'000'000,
                         "of a cell's samples, the first ones that ask Valgrind what it says"),
      parameter::integer("registered", 1, 0, 1, "tell Valgrind of the stacks, if it is there"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("yields", std::min<std::int64_t>(values.integer("yields"), 100))
      .with("debugger", 0)
      .with("valgrind", 0)
      .with("registered", 1);
}

problem::problem(const parameters& values)
    : yields_(values.integer("yields")),
      debugger_(sample_of_cell() < values.integer("debugger")),
      valgrind_(sample_of_cell() < values.integer("valgrind")) {
  stacks_are_registered = values.integer("registered") != 0;
  if (!stacks_are_registered) announce_deregistration();
  pin_to_one_processor();
}

void problem::look_before() { threads_before_ = kernel_threads(); }

void problem::look_at() {
  threads_ = kernel_threads() - threads_before_;
  ++demonstrations_;
  try {
    if (debugger_) frames_ = frames_in_gdb("suspended_in_a_call");
    if (valgrind_) memcheck_ = ask_memcheck();
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "note: %s\n", error.what());
  }
}

verdict problem::check() const {
  const std::string expected = std::to_string(yields_) + " yields, and all demonstrations";
  if (turns_ != yields_ || demonstrations_ != 2) {
    return {false, "expected: " + expected + "; there were " + std::to_string(turns_) + " and " +
                       std::to_string(demonstrations_) + " of 2"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  out.metrics.add("switch_ns",
                  static_cast<double>(timed.wall_ns()) / static_cast<double>(2 * yields_));
  out.counters.add("keeps_locals", std::int64_t{limits_.keeps_locals})
      .add("loses_locals", std::int64_t{!limits_.keeps_locals})
      .add("yields_in_call", std::int64_t{limits_.yields_in_call})
      .add("no_yield_in_call", std::int64_t{!limits_.yields_in_call})
      .add("unwinds", std::int64_t{limits_.unwinds})
      .add("own_signal_mask", std::int64_t{limits_.own_signal_mask})
      .add("own_thread_locals", std::int64_t{limits_.own_thread_locals})
      .add("minimum_stack_bytes", limits_.minimum_stack_bytes)
      .add("listed_threads", static_cast<double>(threads_) / suspended);
  if (frames_ >= 0) {
    out.counters.add("debugger_frames", static_cast<double>(frames_) / suspended)
        .add("hidden_frames", static_cast<double>(suspended - frames_) / suspended);
  }
  if (!memcheck_) return;
  for (const auto& [says, end] :
       {std::pair(memcheck_->told, ""), std::pair(memcheck_->untold, "_untold")}) {
    out.counters.add(std::string("valgrind_errors") + end, says.errors)
        .add(std::string("valgrind_warns") + end, std::int64_t{says.switching_stacks})
        .add(std::string("valgrind_silent") + end, std::int64_t{!says.switching_stacks});
  }
}

}  // namespace heddle::lab::surveying
