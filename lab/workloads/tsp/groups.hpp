#pragma once

#include <atomic>
#include <deque>
#include <limits>

#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/tsp/workload.hpp"

namespace heddle::lab::tsp {

/// PCM: what a group's strands share without protection, the shortest tour that the group knows of.
/// On cache lines of its own: its bound is read at every step of a search.
class alignas(64) group_record final : public finder {
 public:
  explicit group_record(problem& work) : work_(work) {}

  std::uint64_t search_from(const tour& task) {
    return search(work_.cities(), task, bound_, *this);
  }
  /// Compares with the other groups; only one group at a time may do so.
  void exchange() {
    if (shortest_.cities > 0) work_.found(shortest_);
    bound_.store(work_.bound().load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  void found(const tour& candidate) override {
    shortest_ = candidate;
    bound_.store(candidate.length, std::memory_order_relaxed);
  }

 private:
  problem& work_;
  std::atomic<int> bound_{std::numeric_limits<int>::max()};  // as the kernel wants it
  tour shortest_;
};

/// The groups' records and bags, and the semaphore under which a strand, before each task, compares
/// its group's shortest tour with the others' and takes the task.
class group_bags {
 public:
  explicit group_bags(problem& work) : work_(work) {
    work.runs_in_groups();
    for (int group = 0; group < work.groups(); ++group) {
      records_.emplace_back(work);
      next_.push_back(static_cast<std::size_t>(group));
    }
  }

  group_record& record_of(std::size_t group) { return records_[group]; }

  /// To be called between P and V of `exchange`; null if there are no more tasks for that group.
  const tour* take(std::size_t group) {
    records_[group].exchange();
    const bool divided = work_.bag_is_divided();
    std::size_t& next = next_[divided ? group : 0];
    if (next >= work_.tasks().size()) return nullptr;
    const tour& task = work_.tasks()[next];
    next += divided ? next_.size() : 1;
    return &task;
  }

  /// After the run.
  void count_operations() const {
    counters& counted = count();
    counted.p_operations += exchange.p_count();
    counted.blocked_p_operations += exchange.blocked_p_count();
    counted.strand_switches += exchange.blocked_p_count();
  }

  coop::parallel::semaphore exchange{1};

 private:
  problem& work_;
  std::deque<group_record> records_;  // a deque, as they do not move
  std::vector<std::size_t> next_;     // task of each group's bag; of the only one, the first
};

}  // namespace heddle::lab::tsp
