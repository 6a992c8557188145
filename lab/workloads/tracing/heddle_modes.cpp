// `heddle record` of what is compiled with -finstrument-functions, in its other modes.
#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

enum class mode { sparse, flight, sparse_flight, filtered, depth, min_time, capturing, scanning };

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
command prefix(const std::filesystem::path& trace) {
  return heddle_record(trace, options(Which));
}

template <mode Which>
void run(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &prefix<Which>,
               .calls = &heddle_calls,
               .lossless = !leaves_out(Which),
               .leaves_out = leaves_out(Which)},
              timed);
}

const model<problem> models[] = {
    {"heddle/sparse", &run<mode::sparse>},
    {"heddle/flight", &run<mode::flight>},
    {"heddle/sparse-flight", &run<mode::sparse_flight>},
    {"heddle/filtered", &run<mode::filtered>},
    {"heddle/depth", &run<mode::depth>},
    {"heddle/min-time", &run<mode::min_time>},
    {"heddle/capturing", &run<mode::capturing>},
    {"heddle/scanning", &run<mode::scanning>},
};

}  // namespace
}  // namespace heddle::lab::tracing
