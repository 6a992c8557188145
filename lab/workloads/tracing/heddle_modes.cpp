// `heddle record` of what is compiled with -finstrument-functions, in its other modes.
#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

void record(problem& work, region& timed, command (*prefix)(const std::filesystem::path&),
            bool lossless) {
  work.record({.build = "functions",
               .prefix = prefix,
               .calls = &heddle_calls,
               .lossless = lossless,
               .leaves_out = !lossless},
              timed);
}

// A filter that lets everything pass: what it costs to ask.
command filtered(const std::filesystem::path& trace) {
  return heddle_record(trace, {"--exclude", "nothing_is_called_so"});
}

// Of these programs' calls, few take so long.
command min_time(const std::filesystem::path& trace) {
  return heddle_record(trace, {"--min-time", "10us"});
}

// The clock is read every few events only; the variable is what the library goes by.
command sparse(const std::filesystem::path& trace) {
  command words{"env", "HEDDLE_CLOCK=sparse"};
  const command record = heddle_record(trace);
  words.insert(words.end(), record.begin(), record.end());
  return words;
}

const model<problem> sparse_model{
    "heddle/sparse", [](problem& work, region& timed) { record(work, timed, &sparse, true); }};
const model<problem> filtered_model{
    "heddle/filtered", [](problem& work, region& timed) { record(work, timed, &filtered, true); }};
const model<problem> min_time_model{
    "heddle/min-time", [](problem& work, region& timed) { record(work, timed, &min_time, false); }};

}  // namespace
}  // namespace heddle::lab::tracing
