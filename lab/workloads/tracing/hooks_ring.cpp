#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

command prefix(const std::filesystem::path& trace) { return preloaded("ring", trace); }

void run(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix}, timed);
}

const model<problem> ring{"hooks/ring", &run};

}  // namespace
}  // namespace heddle::lab::tracing
