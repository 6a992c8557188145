#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

// What remains of a strand when nothing is made and nothing scheduled: a call.
[[gnu::noinline]] void strand(problem& work, std::int64_t number) { work.ran(number); }

void run(problem& work, region&) {
  for (std::int64_t i = 0; i < work.strands(); ++i) strand(work, i);
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::spawning
