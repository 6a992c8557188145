#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

command prefix(const std::filesystem::path& trace) {
  return heddle_record(trace, {"--coroutines", "off"});
}

void run(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix, .calls = &heddle_calls, .lossless = true},
              timed);
}

const model<problem> functions{"heddle/functions", &run};

}  // namespace
}  // namespace heddle::lab::tracing
