#include "harness/processes.hpp"
#include "workloads/matrix/fiber.hpp"

namespace heddle::lab::matrix {
namespace {

// The cooperative fibers' program, but no strand lets the others run: when its time slice is over,
// it is switched at the end of a unit. Rows are written by one strand each, so that there is
// nothing to protect, no P and no V.
void run(problem& work, region&) {
  using strands = processes<coop::duration>;
  strands all{coop::duration(work.slice_ns())};
  for (int i = 0; i < work.threads(); ++i) {
    all.spawn([&work, mine = share(work, i, work.threads())] {
      multiply(work, mine, strands::checkpoint);
    });
  }
  all.run();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::matrix
