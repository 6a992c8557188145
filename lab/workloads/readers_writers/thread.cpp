#include <sched.h>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/readers_writers/by_semaphores.hpp"

namespace heddle::lab::readers_writers {
namespace {

void run(problem& work, region& timed) {
  by_semaphores<posix_semaphore> record(work);
  run_on_threads(timed, work.strands(),
                 [&](int who) { record.run(who, no_checkpoint, &sched_yield); });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers
