#include "workloads/memory/workload.hpp"

namespace heddle::lab::trace_memory {
namespace {

tracing::command prefix(const std::filesystem::path& trace) {
  return tracing::heddle_record(trace);
}

void run(problem& work, region& timed) {
  work.record(
      {.build = "functions", .prefix = &prefix, .calls = &tracing::heddle_calls, .lossless = true},
      timed);
}

const model<problem> functions{"heddle/functions", &run};

}  // namespace
}  // namespace heddle::lab::trace_memory
