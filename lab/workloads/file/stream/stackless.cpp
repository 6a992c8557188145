#include "heddle/coop/task.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

// "Each operation is treated as a separate co-routine. As the execution is linear no need of
// locking mechanism" (3.2.3): made suspended, started by the driver, gone when it has ended.
coop::task<void> perform(problem& work, const operation& wanted, int strand) {
  work.perform(wanted, strand, work.outcome_of(strand));
  co_return;
}

void run(problem& work, region&) {
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const auto each = perform(work, operations[k], work.strand_of(k));
    each.resume();
    each.result();  // rethrows what it has thrown
  }
  count().strand_switches += 2 * operations.size();  // to the coroutine and back
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::file
