#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

void run(problem& work, region& timed) { work.record({.build = "plain"}, timed); }

const model<problem> untraced{"untraced", &run};

}  // namespace
}  // namespace heddle::lab::tracing
