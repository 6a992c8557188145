#pragma once

#include <deque>
#include <vector>

#include "heddle/coop/parallel/barrier.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/jacobi/shared_barrier.hpp"
#include "workloads/jacobi/workload.hpp"

namespace heddle::lab::jacobi {

/// The barrier that a group's strands share, and the semaphore on which its last strand waits for
/// the other groups, whose last strands each give a permit.
struct gate {
  explicit gate(int strands) : shared(strands) {}

  shared_barrier shared;
  coop::parallel::semaphore others_have_come{0};
};

/// All groups' gates; a deque, as they do not move.
class gates {
 public:
  gates(const problem& work, coop::parallel::groups& groups) : of_library(groups, sizes(work)) {
    for (int i = 0; i < work.groups(); ++i) all_.emplace_back(work.group_size(i));
  }

  [[nodiscard]] int others() const { return static_cast<int>(all_.size()) - 1; }
  gate& at(int group) { return all_[static_cast<std::size_t>(group)]; }
  void tell_others(const gate& mine) {
    for (gate& each : all_) {
      if (&each != &mine) each.others_have_come.V();
    }
  }

  /// After the run.
  void count_operations() const {
    counters& counted = count();
    for (const gate& each : all_) {
      counted.p_operations += each.others_have_come.p_count();
      counted.blocked_p_operations += each.others_have_come.blocked_p_count();
      counted.strand_switches += each.others_have_come.blocked_p_count();
    }
  }

  coop::parallel::barrier of_library;

 private:
  static std::vector<std::size_t> sizes(const problem& work) {
    std::vector<std::size_t> each;
    for (int i = 0; i < work.groups(); ++i) {
      each.push_back(static_cast<std::size_t>(work.group_size(i)));
    }
    return each;
  }

  std::deque<gate> all_;
};

}  // namespace heddle::lab::jacobi
