#include "workloads/reading/workload.hpp"

#include <sys/resource.h>

#include <string>

#include "workloads/tracing/oracle.hpp"

namespace heddle::lab::reading {
namespace {

constexpr std::int64_t any_time_ns = 1'000'000'000'000;

std::uint64_t ns(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000u;
}

}  // namespace

problem::spent problem::spent::by_commands() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return {.user_ns = ns(used.ru_utime),
          .system_ns = ns(used.ru_stime),
          .page_faults = static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt)};
}

problem::spent problem::spent::since(const spent& before) const {
  return {.user_ns = user_ns - before.user_ns,
          .system_ns = system_ns - before.system_ns,
          .page_faults = page_faults - before.page_faults};
}

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
      fib_("fib", values.integer("threads")),
      events_(values.integer("events")) {}

void problem::report_of(const tracing::recorder& with, region& timed) {
  report_of(program_, with, timed);
}

void problem::report_of_fib(const tracing::recorder& with, region& timed) {
  report_of(fib_, with, timed);
}

void problem::report_of(tracing::traced_program& program, const tracing::recorder& with,
                        region& timed) {
  program.last_for(with.build, events_, any_time_ns, traces_);
  made_ = program.count(with.build, traces_);
  const auto trace = traces_.fresh("trace");
  (void)program.run(with.build, with.prefix(trace));
  const spent before = spent::by_commands();
  timed.begin();
  found_ = with.calls(trace);
  timed.end();
  spent_ = spent::by_commands().since(before);
  peak_ = tracing::peak_of_last();
}

verdict problem::check() const {
  return tracing::judge({.calls_made = made_.enters, .calls_found = found_, .lossless = true});
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto events = static_cast<double>(made_.events());
  out.metrics.add("event_cpu_ns", static_cast<double>(spent_.user_ns + spent_.system_ns) / events)
      .add("event_system_ns", static_cast<double>(spent_.system_ns) / events)
      .add("events_per_s", events / static_cast<double>(timed.wall_ns()) * 1e9)
      .add("reader_peak_bytes", static_cast<double>(peak_));
  out.counters.add("events", made_.events()).add("reader_page_faults", spent_.page_faults);
}

}  // namespace heddle::lab::reading
