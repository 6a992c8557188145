#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// Built with -pg, with which it is faster than with -finstrument-functions.
void run(problem& work, region& timed) {
  work.record({.build = "pg", .prefix = &uftrace_record, .calls = &uftrace_calls}, timed);
}

const model<problem> uftrace{"uftrace", &run};

}  // namespace
}  // namespace heddle::lab::tracing
