#include "harness/group_processes.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

// CP on as many processors as PCM has: the same program as concurrent.
void run(problem& work, region& timed) {
  group_processes all(static_cast<std::size_t>(work.groups()), coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  protected_bag<group_processes::semaphore, implicit_switches::at_each_node> bag(work);
  for (int strand = 0; strand < work.strands(); ++strand) {
    all.spawn([&bag, strand] { bag.empty(strand); });
  }
  all.run();
}

const model<problem> concurrent_groups{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::tsp
