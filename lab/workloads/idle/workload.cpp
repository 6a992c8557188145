#include "workloads/idle/workload.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace heddle::lab::idling {
namespace {

std::int64_t number_in(const char* file) {
  std::int64_t value = 0;
  std::ifstream(file) >> value;
  return value;
}

// The kernel threads of all programs on the machine: the fourth word is `running/all`.
std::int64_t kernel_threads_now() {
  std::ifstream file("/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) file >> word;
  const std::size_t slash = word.find('/');
  return slash == std::string::npos ? 0 : std::stoll(word.substr(slash + 1));
}

// What the kernel has for each thread: the machine's stacks are all of one size, a power of two of
// pages. Its threads may come and go between the two looks, which the rounding takes away.
std::int64_t kernel_stack_bytes() {
  const std::int64_t each =
      machine_bytes("KernelStack") / std::max<std::int64_t>(kernel_threads_now(), 1);
  std::int64_t size = 4096;
  while (size * 3 / 2 < each) size *= 2;
  return size;
}

// On the whole machine.
std::int64_t threads_allowed() {
  return std::min(number_in("/proc/sys/kernel/pid_max"), number_in("/proc/sys/kernel/threads-max"));
}

bool threads_to_spare() {
  const std::int64_t most = threads_allowed();
  return kernel_threads_now() < most - most / 8;
}

bool memory_to_spare() { return machine_bytes("MemAvailable") > machine_bytes("MemTotal") / 10; }

}  // namespace

std::vector<parameter> problem::declare() {
  return {parameter::integer("strands", 1000, 1, 10'000'000, "how many wait at once")};
}

// Memory that a warm-up leaves behind would be missing from the growth that the run measures.
parameters problem::small(const parameters& values) { return values.with("strands", 1); }

problem::size problem::size::now() {
  const process_size process = process_size::now();
  return {process, process.threads * kernel_stack_bytes()};
}

problem::problem(const parameters& values) : strands_(values.integer("strands")) {}

bool problem::room(std::int64_t alive, bool threads) {
  if (alive % 512 != 0 || alive == 0) return true;
  left_to_others_ = !memory_to_spare() || (threads && !threads_to_spare());
  return !left_to_others_;
}

void problem::measure_full(std::int64_t alive) {
  full_ = size::now();
  alive_ = alive;
  ended_early_ = ended_;
}

verdict problem::check() const {
  const bool stopped = stopped_by_ != 0 || left_to_others_;
  if (alive_ < 1 || (alive_ != strands_ && !stopped)) {
    return {false, "expected: " + std::to_string(strands_) + " strands waited at once; " +
                       std::to_string(alive_) + " did" +
                       (stopped_by_ != 0 ? std::string(": ") + std::strerror(stopped_by_) : "")};
  }
  const std::string expected = std::to_string(alive_) + " strands waited at once, then ended";
  if (ended_early_ != 0 || ended_ != alive_) {
    return {false, "expected: " + expected + "; " + std::to_string(ended_early_) +
                       " ended before they were let go, " + std::to_string(ended_) + " altogether"};
  }
  if (!stopped) return {true, expected};
  return {true, expected + ", not " + std::to_string(strands_) + ": " +
                    (left_to_others_ ? "the rest of the machine is left to others"
                                     : std::strerror(stopped_by_))};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto strands = static_cast<double>(std::max<std::int64_t>(alive_, 1));
  const auto each = [strands](std::int64_t empty, std::int64_t full) {
    return static_cast<double>(std::max<std::int64_t>(full - empty, 0)) / strands;
  };
  const process_size& empty = empty_.process;
  const process_size& full = full_.process;
  const double resident = each(empty.resident, full.resident);
  const double page_tables = each(empty.page_tables, full.page_tables);
  const double kernel_stacks = each(empty_.kernel_stacks, full_.kernel_stacks);
  const double needed = resident + page_tables + kernel_stacks;
  out.metrics.add("strand_bytes", needed)
      .add("rss_bytes", resident)
      .add("waiting_bytes", needed * strands)
      .add("strand_ns", static_cast<double>(timed.wall_ns()) / strands);
  out.counters.add("alive", alive_)
      .add("page_table_bytes", page_tables)
      .add("strand_reserved_bytes", each(empty.reserved, full.reserved))
      .add("kernel_stack_bytes", kernel_stacks)
      .add("threads_allowed", threads_allowed())
      .add("stopped_by_errno", std::int64_t{stopped_by_})
      .add("left_to_others", std::int64_t{left_to_others_});
}

}  // namespace heddle::lab::idling
