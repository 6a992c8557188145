#include "heddle/coop/scheduler.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

// Each operation is a fiber; all are ready at once, and run one after the other.
void run(problem& work, region&) {
  coop::scheduler s;
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    s.spawn([&work, &wanted = operations[k], strand = work.strand_of(k)] {
      work.perform(wanted, strand, work.outcome_of(strand));
    });
  }
  s.run();
  count().strand_switches += operations.size();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::file
