#include <mutex>

#include "harness/locks.hpp"
#include "harness/team.hpp"
#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv {
namespace {

// "each operation uses mutex locks for safety. We used 10 threads to perform the operations"
// (3.2.2).
void run(problem& work, region& timed) {
  counting<std::mutex> mutex;
  run_on_threads(timed, work.strands(), [&](int strand) {
    outcome seen;
    for (const operation& each : work.operations_of(strand)) {
      const std::lock_guard lock(mutex);
      work.perform(each, strand, seen);
    }
    work.outcome_of(strand) = seen;
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::kv
