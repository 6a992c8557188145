#include "harness/strand_kinds.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv {
namespace {

using namespace coop;

// A strand lets the others run after each operation; none is left within one, so there is no lock.
STRAND client(problem& work, int strand) {
  outcome seen;
  for (const operation& each : work.operations_of(strand)) {
    work.perform(each, strand, seen);
    WAIT(yield());
  }
  work.outcome_of(strand) = seen;
  count().strand_switches += work.operations_of(strand).size();
}

void run(problem& work, region&) {
  scheduler s;
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn([&work, strand] { return client(work, strand); });
  }
  s.run();
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::kv
