// `heddle record` of what is compiled with -finstrument-functions, in its other modes.
#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

enum class mode { sparse, flight, sparse_flight, filtered, depth, min_time };

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
  }
  return {};
}

constexpr bool keeps_all(mode which) { return which == mode::sparse || which == mode::filtered; }

template <mode Which>
command prefix(const std::filesystem::path& trace) {
  return heddle_record(trace, options(Which));
}

template <mode Which>
void run(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &prefix<Which>,
               .calls = &heddle_calls,
               .lossless = keeps_all(Which),
               .leaves_out = !keeps_all(Which)},
              timed);
}

const model<problem> models[] = {
    {"heddle/sparse", &run<mode::sparse>},
    {"heddle/flight", &run<mode::flight>},
    {"heddle/sparse-flight", &run<mode::sparse_flight>},
    {"heddle/filtered", &run<mode::filtered>},
    {"heddle/depth", &run<mode::depth>},
    {"heddle/min-time", &run<mode::min_time>},
};

}  // namespace
}  // namespace heddle::lab::tracing
