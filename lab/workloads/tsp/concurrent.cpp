#include "heddle/coop/concurrent.hpp"

#include "heddle/coop/semaphore.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

// CP on the cooperative strands' own scheduler: switched implicitly when a time slice is over.
void run(problem& work, region&) {
  coop::scheduler s;
  const coop::concurrent processes(s, coop::duration(work.slice_ns()));
  const auto p = [](coop::semaphore& semaphore) { coop::await(semaphore.P()); };
  protected_bag<coop::semaphore, decltype(p)> bag(work, p);
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn([&bag, strand] { bag.empty(strand); });
  }
  s.run();
  counters& counted = count();
  counted.strand_switches += processes.switches();
  bag.each([&](const coop::semaphore& semaphore) {
    counted.strand_switches += semaphore.blocked_p_count();
    counted.p_operations += semaphore.p_count();
    counted.blocked_p_operations += semaphore.blocked_p_count();
  });
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::tsp
