#include "workloads/reading/workload.hpp"

namespace heddle::lab::reading {
namespace {

tracing::command prefix(const std::filesystem::path& trace) {
  return tracing::heddle_record(trace);
}

void run(problem& work, region& timed) {
  work.report_of({.build = "functions", .prefix = &prefix, .calls = &tracing::heddle_strand_calls},
                 timed);
}

const model<problem> strands{"heddle/strands", &run};

}  // namespace
}  // namespace heddle::lab::reading
