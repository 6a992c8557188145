#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/buffer/by_semaphores.hpp"

namespace heddle::lab::buffer {
namespace {

void run_with(problem& work, region& timed, bool protects_always) {
  by_semaphores<posix_semaphore> buffer(work, protects_always);
  run_on_threads(timed, work.producers() + work.consumers(), [&](int who) {
    if (who < work.producers()) return buffer.produce(who, no_checkpoint);
    buffer.consume(who - work.producers(), no_checkpoint);
  });
}

void run(problem& work, region& timed) { run_with(work, timed, false); }
void run_groups(problem& work, region& timed) { run_with(work, timed, true); }

const model<problem> thread{"thread", &run};
const model<problem> thread_groups{"thread/groups", &run_groups};

}  // namespace
}  // namespace heddle::lab::buffer
