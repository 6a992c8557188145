#include "heddle/coop/parallel/groups.hpp"
#include "workloads/matrix/task.hpp"

namespace heddle::lab::matrix {
namespace {

// PCM: a half of the rows to each of two groups, on a processor of its own.
void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  for (int i = 0; i < work.threads(); ++i) {
    groups[work.group_of(i)].spawn(
        [&work, mine = share(work, i, work.threads())] { return multiply(work, mine); });
  }
  groups.run();
  count().strand_switches += work.units();
}

const model<problem> parallel_stackless{"parallel/stackless", &run};

}  // namespace
}  // namespace heddle::lab::matrix
