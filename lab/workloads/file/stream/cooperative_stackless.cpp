#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

coop::task<> perform(problem& work, const operation& wanted, int strand) {
  work.perform(wanted, strand, work.outcome_of(strand));
  co_return;
}

// Each operation is a task; all are ready at once, and run one after the other.
void run(problem& work, region&) {
  coop::scheduler s;
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    s.spawn(perform(work, operations[k], work.strand_of(k)));
  }
  s.run();
  count().strand_switches += operations.size();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::file
