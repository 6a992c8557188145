#include "harness/group_processes.hpp"
#include "workloads/jacobi/semaphore_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

// CP on as many processors as PCM has: the same program as concurrent. `placed`: as PCM's strands
// are, neighbouring strips on one processor.
void run_on_groups(problem& work, region& timed, bool placed) {
  if (work.how() == meeting::library) {
    throw cannot_run("the library has a barrier between groups, which is PCM's: parallel/asm");
  }
  group_processes all(static_cast<std::size_t>(work.groups()), coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  semaphore_barrier<group_processes::semaphore> of_semaphores(work.strands());
  for (int strand = 0; strand < work.strands(); ++strand) {
    const int group = placed ? work.group_of(strand) : strand % work.groups();
    all.spawn_at(static_cast<std::size_t>(group), [&, strand] {
      solve(
          work, strand, [&] { of_semaphores.meet(); }, group_processes::checkpoint);
    });
  }
  all.run();
}

void run(problem& work, region& timed) { run_on_groups(work, timed, false); }
void run_placed(problem& work, region& timed) { run_on_groups(work, timed, true); }

const model<problem> models[] = {
    {"concurrent/groups", &run},
    {"concurrent/groups-placed", &run_placed},
};

}  // namespace
}  // namespace heddle::lab::jacobi
