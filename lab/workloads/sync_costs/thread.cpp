#include <sched.h>

#include <latch>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/sync_costs/stackful.hpp"

namespace heddle::lab::sync_costs {
namespace {

struct threads {
  using semaphore = posix_semaphore;
  region& timed;

  template <class Body>
  void run(int count, const Body& body) {
    // All are there before the first yields: before that a yield would be no switch.
    std::latch here(count);
    run_on_threads(timed, count, [&](int who) {
      here.arrive_and_wait();
      body(who);
    });
  }
  static void yield() { sched_yield(); }
};

void run(problem& work, region& timed) {
  threads strands{timed};
  const usage before = usage::now();
  run_on(strands, work, timed);
  const usage used = usage::now().since(before);
  // A yield leaves the thread runnable, and so is an involuntary switch to the kernel.
  work.kernel_switched(used.voluntary_switches + used.involuntary_switches);
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::sync_costs
