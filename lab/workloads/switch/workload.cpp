#include "workloads/switch/workload.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "harness/processors.hpp"
#include "harness/syscalls.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab::switching {
namespace {

std::size_t shared_bytes(int contexts) {
  return (static_cast<std::size_t>(contexts) + 1) * sizeof(std::int64_t);
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("contexts", 2, 2, 1'000'000, "how many strands"),
      parameter::integer("counter", 100'000, 1, 1'000'000'000, "yields of each strand"),
      parameter::word("style", {"direct", "scheduler"},
                      "hand over to the next strand, or by way of a scheduler (models without a "
                      "scheduler of their own hand over directly in either)"),
      parameter::integer("count-syscalls", 0, 0, 1,
                         "also count system calls a switch, in a traced process"),
  };
}

parameters problem::small(const parameters& values) {
  // The same contexts would cost their creation again where there are many.
  return values.with("contexts", std::min<std::int64_t>(values.integer("contexts"), 8))
      .with("counter", std::min<std::int64_t>(values.integer("counter"), 100));
}

problem::problem(const parameters& values)
    : values_(values),
      contexts_(static_cast<int>(values.integer("contexts"))),
      counter_(values.integer("counter")),
      direct_(values.word("style") == "direct") {
  void* memory = mmap(nullptr, shared_bytes(contexts_), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    throw_errno("no shared memory for the oracle");
  }
  shared_ = static_cast<std::int64_t*>(memory);
  // One strand runs at a time: a second processor would only add migrations.
  pin_to_one_processor();
}

problem::~problem() { munmap(shared_, shared_bytes(contexts_)); }

turns problem::turns_of(int index) {
  const int before = index == 0 ? contexts_ - 1 : index - 1;
  return {counts() + index, counts() + before, index == 0 ? 1 : 0};
}

void problem::finish(const turns& taken) {
  std::atomic_ref(*shared_).fetch_add(taken.out_of_turn(), std::memory_order_relaxed);
}

verdict problem::check() const {
  const std::string expected = std::to_string(contexts_) + " strands ran " +
                               std::to_string(counter_) + " turns each, in round-robin order";
  for (int i = 0; i < contexts_; ++i) {
    if (counts()[i] != counter_) {
      return {false, "expected: " + expected + "; strand " + std::to_string(i) + " ran " +
                         std::to_string(counts()[i])};
    }
  }
  if (*shared_ != 0) {
    return {false, "expected: " + expected + "; " + std::to_string(*shared_) +
                       " turns were taken out of order"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun& again) const {
  const auto wall = static_cast<double>(timed.wall_ns());
  const auto switches = static_cast<double>(yields() * switches_per_yield_);
  out.metrics.add("switch_ns", wall / switches)
      .add("switch_cpu_ns", static_cast<double>(timed.cpu_ns()) / switches)
      .add("yield_ns", wall / static_cast<double>(yields()))
      .add("switches", yields() * switches_per_yield_);

  if (values_.integer("count-syscalls") == 0) return;
  // Two lengths: what starting and ending take is the same in both, and goes out by subtraction.
  const std::int64_t once = std::max<std::int64_t>(1, 400 / contexts_);
  const parameters quiet = values_.with("count-syscalls", 0);
  const auto calls = [&](std::int64_t turns_each) {
    return static_cast<double>(count_syscalls([&] { again(quiet.with("counter", turns_each)); }));
  };
  try {
    const double calls_of_once = calls(2 * once) - calls(once);
    out.counters.add("syscalls_per_switch",
                     calls_of_once / static_cast<double>(once * contexts_ * switches_per_yield_));
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "note: %s\n", error.what());
  }
}

}  // namespace heddle::lab::switching
