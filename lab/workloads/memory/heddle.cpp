#include "workloads/memory/workload.hpp"

namespace heddle::lab::trace_memory {
namespace {

tracing::command prefix(const std::filesystem::path& trace) {
  return tracing::heddle_record(trace);
}

void run_functions(problem& work, region& timed) {
  work.record(
      {.build = "functions", .prefix = &prefix, .calls = &tracing::heddle_calls, .lossless = true},
      timed);
}

void run_preload(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &tracing::heddle_preload,
               .calls = &tracing::heddle_preload_calls,
               .lossless = true},
              timed);
}

const model<problem> models[] = {
    {"heddle/functions", &run_functions},
    {"heddle/preload", &run_preload},
};

}  // namespace
}  // namespace heddle::lab::trace_memory
