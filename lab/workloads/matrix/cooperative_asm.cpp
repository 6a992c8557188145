#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/matrix/fiber.hpp"

namespace heddle::lab::matrix {
namespace {

// Runs as many fibers as the threads' program has threads, on one processor. Each lets the others
// run after each unit.
void run(problem& work, region&) {
  coop::scheduler s;
  for (int i = 0; i < work.threads(); ++i) {
    s.spawn([&work, mine = share(work, i, work.threads())] {
      multiply(work, mine, [] { coop::await(coop::yield()); });
    });
  }
  s.run();
  count().strand_switches += work.units();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::matrix
