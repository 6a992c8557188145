#include <sched.h>

#include <deque>
#include <optional>
#include <string>

#include "harness/deadlock.hpp"
#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/philosophers/by_semaphores.hpp"

namespace heddle::lab::philosophers {
namespace {

void run(problem& work, region& timed) {
  std::deque<posix_semaphore> forks;
  for (int i = 0; i < work.philosophers(); ++i) forks.emplace_back(1U);
  std::optional<deadlock_watch> watch;
  if (work.may_deadlock()) {
    watch.emplace([&] { return work.meals_eaten(); },
                  [&] {
                    end_in_deadlock("deadlock: each of " + std::to_string(work.philosophers()) +
                                    " philosophers waits for a neighbour's fork");
                  });
  }
  run_on_threads(timed, work.philosophers(), [&](int who) {
    dine(
        work, who, forks, no_checkpoint, [&] { work.block_for_io(); }, &sched_yield);
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::philosophers
