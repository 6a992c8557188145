#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

task<> perform(problem& work, const operation& wanted, int strand) {
  work.perform(wanted, strand, work.outcome_of(strand));
  co_await yield();
}

// The same program as cooperative/asm: a task an operation.
task<> perform_all(scheduler& s, problem& work) {
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    s.spawn(perform(work, operations[k], work.strand_of(k)));
    co_await yield();
  }
}

void run(problem& work, region&) {
  scheduler s;
  s.spawn(perform_all(s, work));
  s.run();
  count().strand_switches += 3 * work.operations().size();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::file
