#include "heddle/coop/sync/barrier.hpp"
#include "workloads/jacobi/fiber.hpp"

namespace heddle::lab::jacobi {
namespace {

void run(problem& work, region&) {
  coop::scheduler s;
  shared_barrier shared(work.strands());
  coop::barrier of_library(static_cast<std::size_t>(work.strands()));
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn([&, strand] {
      if (work.how() == meeting::library) {
        return solve(work, strand, [&] {
          if (!coop::await(of_library.arrive_and_wait())) ++count().strand_switches;
        });
      }
      solve(work, strand, [&] { meet(shared, work.how(), [] {}); });
    });
  }
  s.run();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
