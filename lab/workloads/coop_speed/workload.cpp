#include "workloads/coop_speed/workload.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "harness/processors.hpp"

namespace heddle::lab::coop_speed {
namespace {

// Resident memory and the page tables that map it.
std::int64_t process_bytes() {
  std::ifstream status("/proc/self/status");
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:") || line.starts_with("VmPTE:")) {
      kilobytes += std::stoll(line.substr(line.find(':') + 1));
    }
  }
  if (kilobytes == 0) throw std::runtime_error("/proc/self/status does not say VmRSS");
  return kilobytes * 1024;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::word("row", {"yield", "spawn", "handoff", "channel", "idle"}, "what is timed"),
      parameter::integer("strands", 10, 2, 2'000'000, "how many (yield, idle), or in a batch"),
      parameter::integer("count", 100'000, 1, 1'000'000'000,
                         "yields of each, batches, hand-overs, values (idle: unused)"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("strands", std::min<std::int64_t>(values.integer("strands"), 100))
      .with("count", std::min<std::int64_t>(values.integer("count"), 100));
}

problem::problem(const parameters& values)
    : row_(values.word("row")),
      strands_(values.integer("strands")),
      count_(values.integer("count")) {
  pin_to_one_processor();
}

void problem::measure_empty() { empty_bytes_ = process_bytes(); }
void problem::measure_full() { full_bytes_ = process_bytes(); }

std::int64_t problem::operations() const {
  if (row_ == "yield" || row_ == "spawn") return strands_ * count_;
  return row_ == "idle" ? strands_ : count_;
}

verdict problem::check() const {
  const std::string expected = std::to_string(operations()) + " operations of row " + row_ +
                               (row_ == "yield" ? ", round robin" : "");
  if (done_ != operations() || wrong_ != 0) {
    return {false, "expected: " + expected + "; there were " + std::to_string(done_) +
                       ", of which " + std::to_string(wrong_) +
                       " were out of turn or had a wrong value"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto ops = static_cast<double>(operations());
  out.metrics.add("op_ns", static_cast<double>(timed.wall_ns()) / ops)
      .add("op_cpu_ns", static_cast<double>(timed.cpu_ns()) / ops)
      .add("operations", operations());
  if (row_ == "idle") {
    out.metrics.add("strand_bytes", static_cast<double>(full_bytes_ - empty_bytes_) / ops);
  }
}

}  // namespace heddle::lab::coop_speed
