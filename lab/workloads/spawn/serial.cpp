#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

// A plain call: the part of a strand's cost that remains without creating or scheduling one.
[[gnu::noinline]] void strand(problem& work, std::int64_t number) { work.ran(number); }

void run(problem& work, region&) {
  for (std::int64_t i = 0; i < work.strands(); ++i) strand(work, i);
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::spawning
