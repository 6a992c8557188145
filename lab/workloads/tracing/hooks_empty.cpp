#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// The C library's own hooks, which are empty.
void run(problem& work, region& timed) { work.record({.build = "functions"}, timed); }

const model<problem> empty{"hooks/empty", &run};

}  // namespace
}  // namespace heddle::lab::tracing
