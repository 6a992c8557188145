#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/buffer/by_semaphores.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region& timed) {
  by_semaphores<posix_semaphore> buffer(work);
  run_on_threads(timed, work.producers() + work.consumers(), [&](int who) {
    if (who < work.producers()) return buffer.produce(who, no_checkpoint);
    buffer.consume(who - work.producers(), no_checkpoint);
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::buffer
