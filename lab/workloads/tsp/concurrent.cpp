#include "harness/processes.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

void run(problem& work, region&) {
  processes all(coop::duration(work.slice_ns()));
  protected_bag<process_semaphore, implicit_switches::at_each_node> bag(work);
  for (int strand = 0; strand < work.strands(); ++strand) {
    all.spawn([&bag, strand] { bag.empty(strand); });
  }
  all.run();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::tsp
