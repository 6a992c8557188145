#include <sched.h>

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
    run_on_threads(timed, count, body);
  }
  static void yield() { sched_yield(); }
};

void run(problem& work, region& timed) {
  threads strands{timed};
  run_on(strands, work, timed);
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::sync_costs
