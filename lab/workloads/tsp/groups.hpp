#pragma once

#include <atomic>
#include <deque>
#include <limits>

#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/tsp/workload.hpp"

namespace heddle::lab::tsp {

/// PCM: what a group's strands share without protection: every `groups`-th
/// task, from the one of the group's number on, and the shortest tour that the
/// group knows of.
class group_bag final : public finder {
 public:
  group_bag(problem& work, int group) : work_(work), next_(static_cast<std::size_t>(group)) {}

  [[nodiscard]] bool empty() const { return next_ >= work_.tasks().size(); }
  /// Takes a task and searches it.
  std::uint64_t search_one() {
    const tour& task = work_.tasks()[next_];
    next_ += static_cast<std::size_t>(work_.groups());
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
  std::size_t next_;
  std::atomic<int> bound_{std::numeric_limits<int>::max()};  // as the kernel wants it
  tour shortest_;
};

/// The groups' bags, and the semaphore under which they compare their shortest
/// tours after each task.
struct group_bags {
  explicit group_bags(problem& work) {
    for (int group = 0; group < work.groups(); ++group) bags.emplace_back(work, group);
  }

  /// After the run.
  void count_operations() const {
    counters& counted = count();
    counted.p_operations += exchange.p_count();
    counted.blocked_p_operations += exchange.blocked_p_count();
    counted.strand_switches += exchange.blocked_p_count();
  }

  std::deque<group_bag> bags;  // a deque, as they do not move
  coop::parallel::semaphore exchange{1};
};

}  // namespace heddle::lab::tsp
