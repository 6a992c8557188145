#include "harness/group_processes.hpp"
#include "workloads/jacobi/semaphore_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

// CP on as many processors as PCM has: the same program as concurrent.
void run(problem& work, region& timed) {
  if (work.how() == meeting::library) {
    throw cannot_run("the library has a barrier between groups, which is PCM's: parallel/asm");
  }
  group_processes all(static_cast<std::size_t>(work.groups()), coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  semaphore_barrier<group_processes::semaphore> of_semaphores(work.strands());
  for (int strand = 0; strand < work.strands(); ++strand) {
    all.spawn([&, strand] { solve(work, strand, [&] { of_semaphores.meet(); }); });
  }
  all.run();
}

const model<problem> concurrent_groups{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
