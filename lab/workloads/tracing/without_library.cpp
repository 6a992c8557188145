// A recording without the standard library's calls, which are many and seldom the ones of interest.
#include "workloads/tracing/workload.hpp"

namespace heddle::lab::tracing {
namespace {

// The article's remedy: "check if the function names match a string pattern associated with the
// functions in our concurrency models. Only print the functions which match the pattern" (4). With
// the mangled beginning: names of the library's templates hold those of types in the namespace.
command pattern_prefix(const std::filesystem::path& trace) {
  command words = preloaded("naive", trace);
  words.emplace_back("LAB_PATTERN=_ZN6models");
  return words;
}

void run_pattern(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &pattern_prefix,
               .calls = &naive_calls,
               .leaves_out = true,
               .keeps = "own"},
              timed);
}

// When it is compiled, by the list of files in `heddle flags`.
command own_prefix(const std::filesystem::path& trace) { return heddle_record(trace); }

void run_own(problem& work, region& timed) {
  work.record({.build = "own", .prefix = &own_prefix, .calls = &heddle_calls, .lossless = true},
              timed);
}

// When it is recorded: by the names before the parameters, behind a template's result if there is
// one. A mutex of the library calls functions of its headers that are in no namespace.
command without_std_prefix(const std::filesystem::path& trace) {
  return heddle_record(trace, {"-N", R"(^([^(]*[ *&])?(std|__gnu_cxx)::)", "-N",
                               "^(operator (new|delete)|__gthread_)"});
}

void run_without_std(problem& work, region& timed) {
  work.record({.build = "functions",
               .prefix = &without_std_prefix,
               .calls = &heddle_calls,
               .leaves_out = true,
               .keeps = "own"},
              timed);
}

const model<problem> models[] = {
    {"hooks/naive-pattern", &run_pattern},
    {"heddle/own", &run_own},
    {"heddle/without-std", &run_without_std},
};

}  // namespace
}  // namespace heddle::lab::tracing
