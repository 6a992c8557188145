#include "harness/measure.hpp"
#include "workloads/philosophers/moving_table.hpp"

namespace heddle::lab::philosophers {
namespace {

// Border philosophers move to the region that has less to do; inner forks stay variables.
void run(problem& work, region& timed) {
  timed.kernel_threads(3);
  coop::parallel::groups groups({.count = 2});
  moving_table table(work, groups);
  for (int who = 0; who < work.philosophers(); ++who) {
    groups[static_cast<std::size_t>(work.region_of(who))].spawn([&table, who] { table.dine(who); });
  }
  groups.run();
  table.add_waits();
  work.moved(table.moves(), table.lost_forks());
}

const model<problem> registered{"parallel/asm-moved", &run};

}  // namespace
}  // namespace heddle::lab::philosophers
