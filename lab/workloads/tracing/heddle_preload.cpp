#include <stdexcept>

#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// Without `heddle record`: the library alone, which records into the working directory.
command prefix(const std::filesystem::path& trace) {
  std::filesystem::create_directory(trace);
  const auto library = lab_directory().parent_path() / "lib" / "libheddle.so";
  return {"env", "-C", trace.string(), "LD_PRELOAD=" + library.string()};
}

std::uint64_t calls(const std::filesystem::path& trace) {
  for (const auto& each : std::filesystem::directory_iterator(trace)) {
    if (each.path().filename().string().starts_with("heddle.trace.")) {
      return heddle_calls(each.path());
    }
  }
  throw std::runtime_error("no heddle.trace.* in " + trace.string());
}

void run(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix, .calls = &calls, .lossless = true}, timed);
}

const model<problem> preload{"heddle/preload", &run};

}  // namespace
}  // namespace heddle::lab::tracing
