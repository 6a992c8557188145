#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv {
namespace {

void run(problem& work, region&) {
  for (int strand = 0; strand < work.strands(); ++strand) {
    outcome seen;
    for (const operation& each : work.operations_of(strand)) work.perform(each, strand, seen);
    work.outcome_of(strand) = seen;
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::kv
