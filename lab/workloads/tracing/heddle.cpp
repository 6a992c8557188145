#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// Programs compiled for one of the two ways in.
command prefix(const std::filesystem::path& trace) {
  return heddle_record(trace, {"--coroutines", "off"});
}

void run_functions(problem& work, region& timed) {
  work.record({.build = "functions", .prefix = &prefix, .calls = &heddle_calls, .lossless = true},
              timed);
}

void run_fentry(problem& work, region& timed) {
  work.record({.build = "fentry", .prefix = &prefix, .calls = &heddle_calls, .lossless = true},
              timed);
}

// The recorder's library alone, without the command.
void run_preload(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &heddle_preload,
               .calls = &heddle_preload_calls,
               .lossless = true},
              timed);
}

// `heddle record` in its other modes.
enum class mode {
  sparse,
  flight,
  sparse_flight,
  filtered,
  deep,
  depth,
  min_time,
  capturing,
  scanning
};

// Small enough for a run to overwrite all of it several times.
constexpr const char* flight_size = "4M";

command options(mode which) {
  switch (which) {
    case mode::sparse:
      return {"--clock", "sparse"};
    case mode::flight:
      return {"--flight", flight_size};
    case mode::sparse_flight:
      return {"--flight", flight_size, "--clock", "sparse"};
    case mode::filtered:  // everything passes: what it costs to ask
      return {"--exclude", "nothing_is_called_so"};
    case mode::deep:  // the same, and levels are counted
      return {"--depth", "1000"};
    case mode::depth:  // most of what these programs do lies deeper
      return {"--depth", "3"};
    case mode::min_time:  // few of their calls take so long
      return {"--min-time", "10us"};
    case mode::capturing:  // frames where debug information says that they are
      return {"--coroutines", "auto"};
    case mode::scanning:  // frames found in registers and on stacks
      return {"--coroutines", "scan"};
  }
  return {};
}

constexpr bool leaves_out(mode which) {
  return which == mode::flight || which == mode::sparse_flight || which == mode::depth ||
         which == mode::min_time;
}

template <mode Which>
command prefix_of(const std::filesystem::path& trace) {
  return heddle_record(trace, options(Which));
}

constexpr char functions[] = "functions", fentry[] = "fentry";

template <mode Which, const char* Build = functions>
void run_mode(problem& work, region& timed) {
  work.record({.build = Build,
               .prefix = &prefix_of<Which>,
               .calls = &heddle_calls,
               .lossless = !leaves_out(Which),
               .leaves_out = leaves_out(Which)},
              timed);
}

const model<problem> models[] = {
    {"heddle/functions", &run_functions},
    {"heddle/fentry", &run_fentry},
    {"heddle/preload", &run_preload},
    {"heddle/sparse", &run_mode<mode::sparse>},
    {"heddle/flight", &run_mode<mode::flight>},
    {"heddle/sparse-flight", &run_mode<mode::sparse_flight>},
    {"heddle/filtered", &run_mode<mode::filtered>},
    {"heddle/filtered-fentry", &run_mode<mode::filtered, fentry>},
    {"heddle/deep", &run_mode<mode::deep>},
    {"heddle/deep-fentry", &run_mode<mode::deep, fentry>},
    {"heddle/depth", &run_mode<mode::depth>},
    {"heddle/min-time", &run_mode<mode::min_time>},
    {"heddle/capturing", &run_mode<mode::capturing>},
    {"heddle/scanning", &run_mode<mode::scanning>},
};

}  // namespace
}  // namespace heddle::lab::tracing
