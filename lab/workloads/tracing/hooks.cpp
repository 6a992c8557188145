#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// The C library's own hooks, which are empty.
void run_empty(problem& work, region& timed) { work.record({.build = "functions"}, timed); }

command ring_prefix(const std::filesystem::path& trace) { return preloaded("ring", trace); }

void run_ring(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &ring_prefix}, timed);
}

command sparse_ring_prefix(const std::filesystem::path& trace) {
  return preloaded("sparse-ring", trace);
}

void run_sparse_ring(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &sparse_ring_prefix}, timed);
}

command written_ring_prefix(const std::filesystem::path& trace) {
  return preloaded("written-ring", trace);
}

std::uint64_t written_ring_calls(const std::filesystem::path& trace) {
  return number_in(trace / "enters");
}

void run_written_ring(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &written_ring_prefix,
               .calls = &written_ring_calls,
               .lossless = true},
              timed);
}

command naive_prefix(const std::filesystem::path& trace) { return preloaded("naive", trace); }

void run_naive(problem& work, region& timed) {
  work.record(
      {.build = "functions", .prefix = &naive_prefix, .calls = &naive_calls, .lossless = true},
      timed);
}

const model<problem> models[] = {
    {"hooks/empty", &run_empty},
    {"hooks/ring", &run_ring},
    {"hooks/sparse-ring", &run_sparse_ring},
    {"hooks/written-ring", &run_written_ring},
    {"hooks/naive", &run_naive},
};

}  // namespace
}  // namespace heddle::lab::tracing
