#include <deque>

#include "harness/group_processes.hpp"
#include "workloads/philosophers/by_semaphores.hpp"
#include "workloads/philosophers/io.hpp"

namespace heddle::lab::philosophers {
namespace {

// CP on as many processors as PCM has: the same program as concurrent.
void run(problem& work, region& timed) {
  work.has_checkpoints();
  group_processes all(static_cast<std::size_t>(work.regions()), coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  std::deque<group_processes::semaphore> forks;
  for (int i = 0; i < work.philosophers(); ++i) forks.emplace_back(1U);
  for (int who = 0; who < work.philosophers(); ++who) {
    all.spawn([&, who] {
      dine(
          work, who, forks, group_processes::checkpoint, [&] { wait_for_io(work); },
          group_processes::give_way);
    });
  }
  all.run();
}

const model<problem> concurrent_groups{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::philosophers
