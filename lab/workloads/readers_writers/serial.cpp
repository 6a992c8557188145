#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers {
namespace {

void run(problem& work, region&) {
  for (int who = 0; who < work.strands(); ++who) {
    for (std::int64_t visit = 0; visit < work.visits(); ++visit) {
      work.work_outside(who, no_checkpoint);
      work.visit(who, no_checkpoint, [] {});
    }
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers
