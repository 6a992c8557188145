#include "harness/group_processes.hpp"
#include "workloads/buffer/by_semaphores.hpp"

namespace heddle::lab::buffer {
namespace {

// CP on as many processors as PCM has: the same program as concurrent.
void run(problem& work, region& timed) {
  work.has_checkpoints();
  group_processes all(2, coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  by_semaphores<group_processes::semaphore> buffer(work);
  for (int who = 0; who < work.producers(); ++who) {
    all.spawn([&, who] { buffer.produce(who, group_processes::checkpoint); });
  }
  for (int who = 0; who < work.consumers(); ++who) {
    all.spawn([&, who] { buffer.consume(who, group_processes::checkpoint); });
  }
  all.run();
}

const model<problem> concurrent_groups{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::buffer
