#include "workloads/reading/workload.hpp"

namespace heddle::lab::reading {
namespace {

tracing::command prefix(const std::filesystem::path& trace) {
  return tracing::heddle_record(trace);
}

void run_functions(problem& work, region& timed) {
  work.report_of({.build = "functions", .prefix = &prefix, .calls = &tracing::heddle_calls}, timed);
}

void run_strands(problem& work, region& timed) {
  work.report_of({.build = "functions", .prefix = &prefix, .calls = &tracing::heddle_strand_calls},
                 timed);
}

const model<problem> models[] = {
    {"heddle/functions", &run_functions},
    {"heddle/strands", &run_strands},
};

}  // namespace
}  // namespace heddle::lab::reading
