#include "workloads/reading/workload.hpp"

#include <sys/resource.h>

#include <string>

#include "workloads/tracing/oracle.hpp"

namespace heddle::lab::reading {
namespace {

constexpr std::int64_t any_time_ns = 1'000'000'000'000;

// The processor time of the commands that have ended, ns.
std::uint64_t cpu_of_commands() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000u;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::word("program", {"fib", "stl", "coroutine", "lua", "fibers"}, "what is recorded"),
      parameter::integer("threads", 1, 1, 64, "threads that do its work at once"),
      parameter::integer("events", 1'000'000, 1'000, 1'000'000'000, "events in the trace, roughly"),
  };
}

parameters problem::small(const parameters& values) { return values.with("events", 20'000); }

problem::problem(const parameters& values)
    : program_(values.word("program"), values.integer("threads")),
      events_(values.integer("events")) {}

void problem::report_of(const tracing::recorder& with, region& timed) {
  program_.last_for(with.build, events_, any_time_ns, traces_);
  made_ = program_.count(with.build, traces_);
  const auto trace = traces_.fresh("trace");
  (void)program_.run(with.build, with.prefix(trace));
  const std::uint64_t before = cpu_of_commands();
  timed.begin();
  found_ = with.calls(trace);
  timed.end();
  cpu_ns_ = cpu_of_commands() - before;
  peak_ = tracing::peak_of_last();
}

verdict problem::check() const {
  return tracing::judge({.calls_made = made_.enters, .calls_found = found_, .lossless = true});
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto events = static_cast<double>(made_.events());
  out.metrics.add("event_cpu_ns", static_cast<double>(cpu_ns_) / events)
      .add("events_per_s", events / static_cast<double>(timed.wall_ns()) * 1e9)
      .add("reader_peak_bytes", static_cast<double>(peak_));
  out.counters.add("events", made_.events());
}

}  // namespace heddle::lab::reading
