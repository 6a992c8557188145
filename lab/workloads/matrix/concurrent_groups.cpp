#include "harness/group_processes.hpp"
#include "workloads/matrix/fiber.hpp"

namespace heddle::lab::matrix {
namespace {

// CP on as many processors as PCM has: the same program as concurrent.
void run(problem& work, region& timed) {
  group_processes all(static_cast<std::size_t>(work.groups()), coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  for (int i = 0; i < work.threads(); ++i) {
    all.spawn([&work, mine = share(work, i, work.threads())] {
      multiply(work, mine, group_processes::checkpoint);
    });
  }
  all.run();
}

const model<problem> concurrent_groups{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::matrix
