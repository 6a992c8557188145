#pragma once

#include <deque>
#include <vector>

#include "harness/counters.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {

/// The state that one region's philosophers share: their forks, 1 while they lie there, and the
/// counts of their waits.
struct alignas(64) region_forks {
  std::vector<int> fork;  // by its number at the whole table; those of others are not used
  waits done;
};

/// The forks between regions. Their P operations go to the counters when they are destroyed.
class border_forks {
 public:
  /// Makes a semaphore for each fork for which `holds(fork)`.
  template <class Holds>
  border_forks(const problem& work, const Holds& holds)
      : at_(static_cast<std::size_t>(work.philosophers())) {
    for (int which = 0; which < work.philosophers(); ++which) {
      if (holds(which)) at_[static_cast<std::size_t>(which)] = &semaphores_.emplace_back(1U);
    }
  }
  ~border_forks() {
    counters& mine = count();
    for (const coop::parallel::semaphore& each : semaphores_) {
      mine.p_operations += each.p_count();
      mine.blocked_p_operations += each.blocked_p_count();
      mine.strand_switches += each.blocked_p_count();
    }
  }
  border_forks(const border_forks&) = delete;
  border_forks& operator=(const border_forks&) = delete;

  /// Null for one that is no semaphore.
  [[nodiscard]] coop::parallel::semaphore* operator[](int which) const {
    return at_[static_cast<std::size_t>(which)];
  }

 private:
  std::deque<coop::parallel::semaphore> semaphores_;
  std::vector<coop::parallel::semaphore*> at_;
};

/// Runs `start(group, who, forks of who's region)` for each philosopher, then all groups, with
/// `balance` so that strands that may are moved between them.
template <class Start>
void run_regions(problem& work, region& timed, const Start& start, bool balance = false) {
  work.require_regions();
  timed.kernel_threads(static_cast<std::uint64_t>(work.regions()) + 1);
  coop::parallel::groups groups(
      {.count = static_cast<std::size_t>(work.regions()), .balance = balance});
  std::vector<region_forks> regions(groups.size());
  for (region_forks& each : regions) {
    each.fork.assign(static_cast<std::size_t>(work.philosophers()), 1);
  }
  for (int who = 0; who < work.philosophers(); ++who) {
    const auto at = static_cast<std::size_t>(work.region_of(who));
    start(groups[at], who, regions[at]);
  }
  groups.run();
  for (const region_forks& each : regions) work.waited(each.done);
}

}  // namespace heddle::lab::philosophers
