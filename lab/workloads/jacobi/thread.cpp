#include <barrier>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/jacobi/semaphore_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

void run(problem& work, region& timed) {
  semaphore_barrier<posix_semaphore> of_semaphores(work.strands());
  std::barrier of_library(work.strands());
  run_on_threads(timed, work.strands(), [&](int strand) {
    if (work.how() == meeting::library) {
      return solve(work, strand, [&] { of_library.arrive_and_wait(); });
    }
    solve(work, strand, [&] { of_semaphores.meet(); });
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
