#include "workloads/reading/workload.hpp"

namespace heddle::lab::reading {
namespace {

constexpr tracing::recorder uftrace{
    .build = "pg", .prefix = &tracing::uftrace_record, .calls = &tracing::uftrace_calls};

void run(problem& work, region& timed) { work.report_of(uftrace, timed); }

void run_fib(problem& work, region& timed) { work.report_of_fib(uftrace, timed); }

const model<problem> models[] = {
    {"uftrace", &run},
    {"uftrace/fib", &run_fib},
};

}  // namespace
}  // namespace heddle::lab::reading
