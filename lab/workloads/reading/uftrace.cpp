#include "workloads/reading/workload.hpp"

namespace heddle::lab::reading {
namespace {

void run(problem& work, region& timed) {
  work.report_of(
      {.build = "pg", .prefix = &tracing::uftrace_record, .calls = &tracing::uftrace_calls}, timed);
}

const model<problem> uftrace{"uftrace", &run};

}  // namespace
}  // namespace heddle::lab::reading
