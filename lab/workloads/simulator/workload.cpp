#include "workloads/simulator/workload.hpp"

#include <algorithm>
#include <string>

#include "harness/processors.hpp"
#include "workloads/simulator/event_driven.hpp"

namespace heddle::lab::simulating {
namespace {

std::string text(const history& told) {
  return std::to_string(told.events) + " events until " + std::to_string(told.end) +
         " ns, whose digest is " + std::to_string(told.digest);
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("connections", 100, 1, 1'000'000,
                         "clients, each with a server of its own"),
      parameter::integer("requests", 20, 1, 1'000'000, "of each client, one after the other"),
      parameter::integer("seed", 1, 0, 1'000'000'000, "of times and sizes"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("connections", std::min<std::int64_t>(values.integer("connections"), 5))
      .with("requests", 2);
}

problem::problem(const parameters& values)
    : scenario_{.connections = static_cast<int>(values.integer("connections")),
                .requests = static_cast<int>(values.integer("requests")),
                .seed = static_cast<std::uint64_t>(values.integer("seed"))} {
  pin_to_one_processor();  // one application runs at a time
}

verdict problem::check() {
  history expected;
  event_driven reference(scenario_, expected);
  const std::uint64_t start = now_ns();
  reference.run();
  event_driven_ns_ = now_ns() - start;

  const std::uint64_t all = 4 * static_cast<std::uint64_t>(scenario_.connections) *
                            static_cast<std::uint64_t>(scenario_.requests);
  if (happened_ != expected || expected.events != all) {
    return {false, "expected: " + std::to_string(all) + " events, as the event-driven form's " +
                       text(expected) + "; there were " + text(happened_)};
  }
  return {true, text(happened_) + ", as in the event-driven form"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  out.result = text(happened_);
  const auto wall = static_cast<double>(timed.wall_ns());
  const auto blocked = static_cast<double>(std::max<std::int64_t>(blocked_, 1));
  out.metrics.add("blocked_call_ns", wall / blocked)
      .add("event_ns", wall / static_cast<double>(std::max<std::uint64_t>(happened_.events, 1)))
      .add("over_events_ns", (wall - static_cast<double>(event_driven_ns_)) / blocked)
      .add("simulated_ns", happened_.end);
  out.counters.add("blocked_calls", blocked_);
}

}  // namespace heddle::lab::simulating
