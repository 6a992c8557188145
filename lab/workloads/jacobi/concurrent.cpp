#include "harness/processes.hpp"
#include "heddle/coop/sync/barrier.hpp"
#include "workloads/jacobi/semaphore_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

void run(problem& work, region&) {
  using strands = processes<coop::duration>;
  strands all(coop::duration(work.slice_ns()));
  semaphore_barrier<process_semaphore> of_semaphores(work.strands());
  coop::barrier of_library(static_cast<std::size_t>(work.strands()));
  for (int strand = 0; strand < work.strands(); ++strand) {
    all.spawn([&, strand] {
      if (work.how() == meeting::library) {
        const auto meet = [&] {
          if (!coop::await(of_library.arrive_and_wait())) ++count().strand_switches;
        };
        return solve(work, strand, meet, strands::checkpoint);
      }
      const auto meet = [&] { of_semaphores.meet(); };
      solve(work, strand, meet, strands::checkpoint);
    });
  }
  all.run();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
