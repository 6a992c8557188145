#include <fstream>
#include <string>

#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

command prefix(const std::filesystem::path& trace) { return preloaded("naive", trace); }

std::uint64_t calls(const std::filesystem::path& trace) {
  std::ifstream file(trace / "naive.log");
  std::uint64_t enters = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(" - Enter: ") != std::string::npos) ++enters;
  }
  return enters;
}

void run(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix, .calls = &calls, .lossless = true}, timed);
}

const model<problem> naive{"hooks/naive", &run};

}  // namespace
}  // namespace heddle::lab::tracing
