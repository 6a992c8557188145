#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

command prefix(const std::filesystem::path& trace) { return preloaded("naive", trace); }

void run(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix, .calls = &naive_calls, .lossless = true},
              timed);
}

const model<problem> naive{"hooks/naive", &run};

}  // namespace
}  // namespace heddle::lab::tracing
