#include "workloads/sequence/workload.hpp"

#include <algorithm>
#include <string>

#include "harness/processors.hpp"

namespace heddle::lab::sequence {
namespace {

memory memory_of(const std::string& word) {
  if (word == "source") return memory::source;
  return word == "pooled" ? memory::pooled : memory::excluded;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("items", 1000, 1, 1'000'000'000, "items that are taken of a generator"),
      parameter::integer("work", 500'000, 1, 1'000'000'000,
                         "items altogether, about: one generator at least"),
      parameter::word("memory", {"source", "pooled", "excluded"},
                      "where a frame or a stack comes from"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("items", std::min<std::int64_t>(values.integer("items"), 1000))
      .with("work", 1000);
}

problem::problem(const parameters& values)
    : items_(values.integer("items")),
      work_(values.integer("work")),
      from_(memory_of(values.word("memory"))) {
  pin_to_one_processor();
}

std::int64_t problem::generators(std::int64_t most) const {
  return std::clamp<std::int64_t>(work_ / items_, 1, most);
}

void problem::finish(const taker& taken, std::int64_t generators) {
  generators_ += generators;
  taken_ += taken.next_;
  wrong_ += taken.wrong_;
}

verdict problem::check() const {
  const std::string expected = "the numbers from 0 on in order, " + std::to_string(items_) +
                               " of each of " + std::to_string(generators_) + " generators";
  if (generators_ == 0 || taken_ != items_ * generators_ || wrong_ != 0) {
    return {false, "expected: " + expected + "; " + std::to_string(taken_) + " were taken, " +
                       std::to_string(wrong_) + " of them wrong"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto wall = static_cast<double>(timed.wall_ns());
  const auto cpu = static_cast<double>(timed.cpu_ns());
  const auto generators = static_cast<double>(generators_);
  out.metrics.add("generator_ns", wall / generators)
      .add("generator_cpu_ns", cpu / generators)
      .add("item_cpu_ns", cpu / (generators * static_cast<double>(items_)))
      .add("generators", generators_);
  out.counters.add("allocations_per_generator",
                   static_cast<double>(timed.counted().allocations) / generators);
}

}  // namespace heddle::lab::sequence
