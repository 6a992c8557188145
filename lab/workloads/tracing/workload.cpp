#include "workloads/tracing/workload.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "harness/processors.hpp"

namespace heddle::lab::tracing {
namespace {

namespace fs = std::filesystem;

// The processes that are to run beside the traced threads.
int others(const parameters& values) {
  const std::string cores = values.word("cores");
  if (cores == "free") return 0;
  // As `make -j` with some to spare: the traced threads have to share their processors, too.
  if (cores == "loaded") return 5 * processors() / 2;
  return std::max(0, processors() - static_cast<int>(values.integer("threads")));
}

std::uint64_t bytes_in(const fs::path& trace) {
  if (!fs::exists(trace)) return 0;
  std::uint64_t bytes = 0;
  for (const auto& each : fs::recursive_directory_iterator(trace)) {
    struct stat status {};
    // Blocks that are allocated ahead of use are on the disk, and what copies the trace to another
    // machine may carry the holes of a sparse file.
    if (each.is_regular_file() && stat(each.path().c_str(), &status) == 0) {
      bytes += static_cast<std::uint64_t>(
          std::max<std::int64_t>(status.st_blocks * 512, status.st_size));
    }
  }
  return bytes;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::word(
          "program",
          {"fib", "stl", "coroutine", "lua", "many", "arrays", "vectors", "matrix", "kv", "file"},
          "what is recorded"),
      parameter::integer("threads", 1, 1, 256, "threads that run it at once"),
      parameter::integer("events", 1'000'000, 1'000, 1'000'000'000,
                         "events of all threads together, roughly"),
      parameter::integer("longest-us", 1'000'000'000, 1, 1'000'000'000,
                         "the program without hooks shall not run longer; at least one round"),
      parameter::word("cores", {"free", "busy", "loaded"},
                      "whether the processors that the program leaves are free, or kept busy by "
                      "processes of normal priority; `loaded`: all are, two and a half to each"),
  };
}

parameters problem::small(const parameters& values) { return values.with("events", 20'000); }

problem::problem(const parameters& values)
    : program_(values.word("program"), values.integer("threads")),
      threads_(static_cast<std::uint64_t>(values.integer("threads"))),
      events_(values.integer("events")),
      longest_ns_(1000 * values.integer("longest-us")),
      others_(others(values)) {}

void problem::record(const recorder& with, region& timed) {
  // Without hooks of its own it makes the same calls as the build that has them all.
  const std::string_view counting = with.build == "plain" ? "functions" : with.build;
  program_.last_for(counting, events_, longest_ns_, traces_);
  made_ = program_.count(counting, traces_);
  kept_ = with.keeps.empty() ? made_.enters : program_.count(with.keeps, traces_).enters;
  plain_ = program_.run("plain");

  const fs::path trace = traces_.fresh("trace");
  timed.begin();
  recorded_ = program_.run(with.build, with.prefix != nullptr ? with.prefix(trace) : command{});
  timed.end();
  timed.kernel_threads(threads_);
  lossless_ = with.lossless || !with.keeps.empty();
  leaves_out_ = with.leaves_out;
  if (with.calls != nullptr) {
    trace_bytes_ = bytes_in(trace);
    found_ = with.calls(trace);
  }
}

void problem::report(const region&, results& out, const rerun&) const {
  // Divides by the events that were recorded, as an event that was lost costs little.
  const auto events = static_cast<double>(
      found_ && !leaves_out_ ? std::max<std::uint64_t>(1, 2 * *found_) : made_.events());
  out.metrics.add("event_ns", static_cast<double>(recorded_.cpu_ns) / events)
      .add("slowdown", static_cast<double>(recorded_.cpu_ns) /
                           static_cast<double>(std::max<std::uint64_t>(1, plain_.cpu_ns)))
      .add("events_per_s", events / static_cast<double>(recorded_.wall_ns) * 1e9);
  out.counters.add("events", made_.events()).add("program_cpu_ns", recorded_.cpu_ns);
  if (!found_) return;
  out.metrics.add("bytes_per_event", static_cast<double>(trace_bytes_) / events);
  const std::uint64_t absent = found_ > made_.enters ? 0 : 2 * (made_.enters - *found_);
  out.counters.add("events_left_out", leaves_out_ ? absent : 0);
  if (!leaves_out_) out.counters.add("events_lost", absent);
}

}  // namespace heddle::lab::tracing
