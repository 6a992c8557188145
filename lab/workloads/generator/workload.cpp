#include "workloads/generator/workload.hpp"

#include <algorithm>
#include <string>

#include "harness/processors.hpp"

namespace heddle::lab::generating {

std::vector<parameter> problem::declare() {
  return {parameter::integer("items", 1'000'000, 1, 1'000'000'000, "nodes of the tree")};
}

parameters problem::small(const parameters& values) {
  return values.with("items", std::min<std::int64_t>(values.integer("items"), 1000));
}

problem::problem(const parameters& values) : items_(values.integer("items")) {
  pin_to_one_processor();
}

verdict problem::check() const {
  const std::string expected = "the numbers from 1 to " + std::to_string(items_) + " in order";
  if (taken_ != items_ || out_of_order_ != 0) {
    return {false, "expected: " + expected + "; the last was " + std::to_string(taken_) + ", " +
                       std::to_string(out_of_order_) + " came out of order"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto items = static_cast<double>(items_);
  out.metrics.add("item_ns", static_cast<double>(timed.wall_ns()) / items)
      .add("item_cpu_ns", static_cast<double>(timed.cpu_ns()) / items);
}

}  // namespace heddle::lab::generating
