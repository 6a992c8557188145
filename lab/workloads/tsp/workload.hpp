#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/tsp/search.hpp"

namespace heddle::lab::tsp {

/// The travelling salesman's shortest tour, as the Euro-Par paper's TSP: `cities` random points in
/// a square, and strands that take the beginnings of tours out of a bag, all of three cities, and
/// try their ends, depth first; what is as long as the shortest tour so far is not followed. That
/// length is shared: a strand that finds a shorter tour stores it.
///
/// - serial: one flow of control takes all tasks.
/// - concurrent, thread: CP. A semaphore protects the bag, another the shortest tour.
///   concurrent/groups: on as many processors as there are groups.
/// - goroutine: the bag is a channel, a mutex protects the tour.
/// - cooperative: CM. Both are plain variables; a strand yields after each task.
/// - parallel: PCM. Each of `groups` groups has the shortest tour that it knows of in plain
///   variables. Under a semaphore a strand compares it with the others' and takes a task, out of
///   one bag, or, `bag` being "divided", out of the group's own, which has every so many-th task.
///
/// Counter: `nodes`, beginnings of tours that were looked at, which depends on how early a short
/// tour is found; PCM: `busiest_group_share`, of these. Metric: `node_ns` = wall / nodes.
class problem {
 public:
  static constexpr std::string_view name = "tsp";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] const map& cities() const { return map_; }
  [[nodiscard]] int strands() const { return strands_; }
  [[nodiscard]] int groups() const { return groups_; }
  [[nodiscard]] int group_of(int strand) const { return strand * groups_ / strands_; }
  /// PCM: whether each group has a bag of its own.
  [[nodiscard]] bool bag_is_divided() const { return bag_is_divided_; }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  /// The bag's contents; a strand takes them in this order.
  [[nodiscard]] const std::vector<tour>& tasks() const { return tasks_; }

  /// The length of the shortest tour so far, which a better one must be below; all strands read it
  /// while one writes, so it is no plain int.
  std::atomic<int>& bound() { return bound_; }
  /// Notes a tour, if it is shorter than all before. Only one strand at a time may do so.
  void found(const tour& candidate);
  /// The model says so: which group did how much is told then.
  void runs_in_groups() { in_groups_ = true; }
  /// Each strand, at its end: how many tasks it took, and how many nodes it looked at.
  void worked(int strand, std::uint64_t tasks, std::uint64_t nodes) {
    work_[static_cast<std::size_t>(strand)] = {tasks, nodes};
  }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  struct share {
    std::uint64_t tasks = 0;
    std::uint64_t nodes = 0;
  };
  [[nodiscard]] share all_work() const;

  map map_;
  int strands_;
  int groups_;
  bool bag_is_divided_;
  bool in_groups_ = false;
  std::int64_t slice_ns_;
  std::vector<tour> tasks_;
  std::atomic<int> bound_;
  tour shortest_;
  std::vector<share> work_;
};

}  // namespace heddle::lab::tsp
