#include "heddle/coop/concurrent.hpp"

#include "workloads/matrix/fiber.hpp"

namespace heddle::lab::matrix {
namespace {

// The cooperative fibers' program, but that nobody lets the others run: who has had its time slice
// is switched, at the end of a unit. Rows are written by one strand each, so that there is nothing
// to protect, no P and no V.
void run(problem& work, region&) {
  coop::scheduler s;
  const coop::concurrent processes(s, coop::duration(work.slice_ns()));
  for (int i = 0; i < work.threads(); ++i) {
    s.spawn([&work, mine = share(work, i, work.threads())] {
      multiply(work, mine, [] { coop::await(coop::checkpoint()); });
    });
  }
  s.run();
  count().strand_switches += processes.switches();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::matrix
