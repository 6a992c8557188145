#include "workloads/spawn/workload.hpp"

#include <sys/mman.h>

#include <atomic>
#include <string>

#include "harness/processors.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab::spawning {

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("strands", 10'000, 1, 100'000'000, "how many, altogether"),
      parameter::integer("outstanding", 1, 0, 100'000'000, "how many at a time; 0: all"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("strands", std::min<std::int64_t>(values.integer("strands"), 100));
}

problem::problem(const parameters& values)
    : strands_(values.integer("strands")),
      outstanding_(values.integer("outstanding") == 0
                       ? strands_
                       : std::min(strands_, values.integer("outstanding"))) {
  void* const memory = mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    throw_errno("no shared memory for the oracle");
  }
  tally_ = static_cast<tally*>(memory);
  pin_to_one_processor();
}

problem::~problem() { munmap(tally_, sizeof(tally)); }

void problem::ran_somewhere(std::int64_t strand) {
  std::atomic_ref(tally_->ran).fetch_add(1, std::memory_order_relaxed);
  std::atomic_ref(tally_->sum).fetch_add(strand, std::memory_order_relaxed);
}

verdict problem::check() const {
  const std::int64_t right = strands_ * (strands_ - 1) / 2;
  const std::string expected = std::to_string(strands_) + " strands ran, each once";
  if (tally_->ran != strands_ || tally_->sum != right) {
    return {false, "expected: " + expected + "; " + std::to_string(tally_->ran) +
                       " did, and their numbers add up to " + std::to_string(tally_->sum) +
                       ", not " + std::to_string(right)};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto strands = static_cast<double>(strands_);
  out.result = std::to_string(tally_->sum);
  out.metrics.add("strand_ns", static_cast<double>(timed.wall_ns()) / strands)
      .add("strand_cpu_ns", static_cast<double>(timed.cpu_ns()) / strands);
}

}  // namespace heddle::lab::spawning
