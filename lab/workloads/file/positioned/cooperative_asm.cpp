#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/file/positioned_file.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

// Runs as many fibers as the threads' program has threads; each lets the others run after each
// operation. The calls never block: the file is in the page cache.
void run(problem& work, region&) {
  const positioned_file data(work.data.fd());
  scheduler s;
  for (int strand = 0; strand < work.threads(); ++strand) {
    s.spawn([&work, &data, strand] {
      outcome seen;
      work.for_each_of(strand, [&](const operation& each) {
        work.perform_on(data, each, strand, seen);
        await(yield());
      });
      work.outcome_of(strand) = seen;
    });
  }
  s.run();
  count().strand_switches += work.operations().size();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::file
