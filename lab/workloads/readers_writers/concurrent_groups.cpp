#include "harness/group_processes.hpp"
#include "workloads/readers_writers/by_semaphores.hpp"

namespace heddle::lab::readers_writers {
namespace {

// CP on as many processors as PCM has: the same program as concurrent, strands by turns.
void run(problem& work, region& timed) {
  work.has_checkpoints();
  group_processes all(2, coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  by_semaphores<group_processes::semaphore> record(work);
  for (int who = 0; who < work.strands(); ++who) {
    all.spawn(
        [&, who] { record.run(who, group_processes::checkpoint, group_processes::give_way); });
  }
  all.run();
}

const model<problem> registered{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers
