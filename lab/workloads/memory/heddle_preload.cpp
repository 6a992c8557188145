#include "workloads/memory/workload.hpp"

namespace heddle::lab::trace_memory {
namespace {

void run(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &tracing::heddle_preload,
               .calls = &tracing::heddle_preload_calls,
               .lossless = true},
              timed);
}

const model<problem> preload{"heddle/preload", &run};

}  // namespace
}  // namespace heddle::lab::trace_memory
