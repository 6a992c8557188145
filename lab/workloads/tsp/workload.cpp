#include "workloads/tsp/workload.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "harness/processors.hpp"

namespace heddle::lab::tsp {

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("cities", 12, 3, most_cities, "to visit"),
      parameter::integer("strands", 8, 1, 1000, "that take tasks out of the bag"),
      parameter::integer("seed", 1, 0, 1'000'000'000'000, "of the random cities"),
      parameter::integer("processors", 1, 1, 64, "that all strands may use together"),
      parameter::integer("groups", 2, 1, 64, "PCM: that divide the strands, a processor each"),
      parameter::word("bag", {"shared", "divided"}, "PCM: one for all groups, or one each"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("cities", std::min<std::int64_t>(values.integer("cities"), 7));
}

problem::problem(const parameters& values)
    : map_(static_cast<int>(values.integer("cities")),
           static_cast<std::uint64_t>(values.integer("seed"))),
      strands_(static_cast<int>(values.integer("strands"))),
      groups_(std::min(strands_, static_cast<int>(values.integer("groups")))),
      bag_is_divided_(values.word("bag") == "divided"),
      slice_ns_(1000 * values.integer("slice-us")),
      tasks_(beginnings(map_, 3)),
      bound_(std::numeric_limits<int>::max()),
      work_(static_cast<std::size_t>(strands_)) {
  pin_to_processors(static_cast<int>(values.integer("processors")));
}

void problem::found(const tour& candidate) {
  // Another strand may have found a shorter one since the candidate was compared.
  if (candidate.length >= bound_.load(std::memory_order_relaxed)) return;
  shortest_ = candidate;
  bound_.store(candidate.length, std::memory_order_relaxed);
}

problem::share problem::all_work() const {
  share all;
  for (const share& each : work_) {
    all.tasks += each.tasks;
    all.nodes += each.nodes;
  }
  return all;
}

verdict problem::check() const {
  const int cities = map_.cities();
  if (all_work().tasks != tasks_.size()) {
    return {false, "expected: " + std::to_string(tasks_.size()) + " tasks, each taken once; " +
                       std::to_string(all_work().tasks) + " were"};
  }
  tour walked;
  std::vector<int> visits(static_cast<std::size_t>(cities));
  for (int i = 0; i < shortest_.cities; ++i) {
    const std::uint8_t city = shortest_.order[static_cast<std::size_t>(i)];
    if (city >= cities) continue;
    ++visits[city];
    walked.append(map_, city);
  }
  if (std::any_of(visits.begin(), visits.end(), [](int times) { return times != 1; })) {
    return {false, "expected: a tour through each of " + std::to_string(cities) + " cities once"};
  }
  walked.append(map_, shortest_.order[0]);
  const int expected = shortest_length(map_);
  for (const int length : {walked.length, shortest_.length, bound_.load()}) {
    if (length == expected) continue;
    return {false, "expected: a tour of length " + std::to_string(expected) +
                       ", the shortest by dynamic programming; got " + std::to_string(length)};
  }
  return {true,
          "the tour visits each city once, and is as long as the shortest by dynamic "
          "programming; all " +
              std::to_string(tasks_.size()) + " tasks were taken"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const double nodes = static_cast<double>(all_work().nodes);
  out.metrics.add("node_ns", static_cast<double>(timed.wall_ns()) / nodes);
  out.counters.add("nodes", all_work().nodes);
  out.result = std::to_string(shortest_.length);
  if (!in_groups_) return;
  std::vector<std::uint64_t> of_group(static_cast<std::size_t>(groups_));
  for (int strand = 0; strand < strands_; ++strand) {
    of_group[static_cast<std::size_t>(group_of(strand))] +=
        work_[static_cast<std::size_t>(strand)].nodes;
  }
  const auto most = *std::max_element(of_group.begin(), of_group.end());
  out.counters.add("busiest_group_share", static_cast<double>(most) / nodes);
}

}  // namespace heddle::lab::tsp
