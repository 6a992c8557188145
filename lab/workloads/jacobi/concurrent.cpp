#include "heddle/coop/concurrent.hpp"

#include "heddle/coop/barrier.hpp"
#include "heddle/coop/semaphore.hpp"
#include "workloads/jacobi/semaphore_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

// CP on the cooperative strands' own scheduler: switched implicitly when a time slice is over.
void run(problem& work, region&) {
  coop::scheduler s;
  const coop::concurrent processes(s, coop::duration(work.slice_ns()));
  semaphore_barrier<coop::semaphore> of_semaphores(work.strands());
  coop::barrier of_library(static_cast<std::size_t>(work.strands()));
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn([&, strand] {
      if (work.how() == meeting::library) {
        return solve(work, strand, [&] { coop::await(of_library.arrive_and_wait()); });
      }
      solve(work, strand, [&] {
        of_semaphores.meet([](coop::semaphore& semaphore) { coop::await(semaphore.P()); });
      });
    });
  }
  s.run();
  counters& counted = count();
  counted.strand_switches += processes.switches();
  of_semaphores.each([&](const coop::semaphore& semaphore) {
    counted.strand_switches += semaphore.blocked_p_count();
    counted.p_operations += semaphore.p_count();
    counted.blocked_p_operations += semaphore.blocked_p_count();
  });
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
