#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

void run(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &heddle_preload,
               .calls = &heddle_preload_calls,
               .lossless = true},
              timed);
}

const model<problem> preload{"heddle/preload", &run};

}  // namespace
}  // namespace heddle::lab::tracing
