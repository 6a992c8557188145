#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/matrix/fiber.hpp"

namespace heddle::lab::matrix {
namespace {

// As many fibers as there are threads in the threads' program, on one processor; each lets the
// others run after each unit.
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
