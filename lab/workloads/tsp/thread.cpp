#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

void run(problem& work, region& timed) {
  protected_bag<posix_semaphore> bag(work);
  run_on_threads(timed, work.strands(), [&](int strand) { bag.empty(strand); });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::tsp
