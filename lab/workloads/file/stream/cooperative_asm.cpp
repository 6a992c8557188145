#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

// Each operation is a fiber of its own, which gives way when it has used the file and is resumed to
// its end. The strand that makes them gives way, too, so there are never more than a few.
void run(problem& work, region&) {
  scheduler s;
  const std::vector<operation>& operations = work.operations();
  s.spawn([&] {
    for (std::size_t k = 0; k < operations.size(); ++k) {
      s.spawn([&work, &wanted = operations[k], strand = work.strand_of(k)] {
        work.perform(wanted, strand, work.outcome_of(strand));
        await(yield());
      });
      await(yield());
    }
  });
  s.run();
  count().strand_switches += 3 * operations.size();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::file
