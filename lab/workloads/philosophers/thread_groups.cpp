// PCM as the source simulated it (section 3.2): kernel threads, of which any may run anywhere.
#include <sched.h>

#include <deque>
#include <optional>
#include <vector>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {
namespace {

struct alignas(64) simulated_region {
  posix_semaphore protection{1U};  // of the integers: "protection synchronization"
  posix_semaphore turn{1U};        // DP_2: who runs, "region synchronization"
};

struct alignas(64) simulated_fork {
  int lies_there = 1;
  std::optional<posix_semaphore> border;
};

class simulation {
 public:
  simulation(problem& work, bool one_at_a_time)
      : work_(work),
        one_at_a_time_(one_at_a_time),
        regions_(static_cast<std::size_t>(work.regions())),
        forks_(static_cast<std::size_t>(work.philosophers())) {
    for (int which = 0; which < work.philosophers(); ++which) {
      if (work.is_border(which)) forks_[static_cast<std::size_t>(which)].border.emplace(1U);
    }
  }

  void dine(int who) {
    simulated_region& own = regions_[static_cast<std::size_t>(work_.region_of(who))];
    simulated_fork& left = forks_[static_cast<std::size_t>(work_.left(who))];
    simulated_fork& right = forks_[static_cast<std::size_t>(work_.right(who))];
    for (std::int64_t meal = 0; meal < work_.meals(); ++meal) {
      enter(own);
      work_.think(who, no_checkpoint);
      take_border(own, left);
      take_border(own, right);
      take_both(own, left, right);
      work_.eat(who, no_checkpoint, [&] {
        exit(own);
        sched_yield();
        enter(own);
      });
      own.protection.P();
      left.lies_there = 1;
      right.lies_there = 1;
      own.protection.V();
      if (left.border) left.border->V();
      if (right.border) right.border->V();
      exit(own);
    }
    work_.leave();
  }

 private:
  void enter(simulated_region& own) {
    if (one_at_a_time_) own.turn.P();
  }
  void exit(simulated_region& own) {
    if (one_at_a_time_) own.turn.V();
  }
  // A thread that waits lets the others of its region run.
  void take_border(simulated_region& own, simulated_fork& fork) {
    if (!fork.border) return;
    exit(own);
    fork.border->P();
    enter(own);
  }
  // Only the philosopher who has a border fork's semaphore looks at its lies_there.
  void take_both(simulated_region& own, simulated_fork& left, simulated_fork& right) {
    for (;;) {
      own.protection.P();
      const bool both = left.lies_there == 1 && right.lies_there == 1;
      if (both) left.lies_there = right.lies_there = 0;
      own.protection.V();
      if (both) return;
      exit(own);
      sched_yield();
      enter(own);
    }
  }

  problem& work_;
  bool one_at_a_time_;
  std::deque<simulated_region> regions_;
  std::deque<simulated_fork> forks_;
};

void run_as(problem& work, region& timed, bool one_at_a_time) {
  work.require_regions();
  simulation all(work, one_at_a_time);
  run_on_threads(timed, work.philosophers(), [&](int who) { all.dine(who); });
}

void run_dp_1(problem& work, region& timed) { run_as(work, timed, false); }
void run_dp_2(problem& work, region& timed) { run_as(work, timed, true); }

const model<problem> thread_groups{"thread/groups", &run_dp_1};
const model<problem> thread_regions{"thread/regions", &run_dp_2};

}  // namespace
}  // namespace heddle::lab::philosophers
