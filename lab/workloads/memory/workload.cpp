#include "workloads/memory/workload.hpp"

#include <sstream>
#include <stdexcept>
#include <string>

#include "harness/processors.hpp"

namespace heddle::lab::trace_memory {

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("threads", 1, 1, 256, "threads that make calls and then wait"),
      parameter::integer("calls", 100, 1, 100'000'000, "calls that each of them makes"),
  };
}

parameters problem::small(const parameters& values) { return values.with("calls", 1); }

problem::problem(const parameters& values)
    : threads_(values.integer("threads")), calls_(values.integer("calls")), others_(processors()) {}

problem::resident problem::run(std::string_view build, std::int64_t threads, std::int64_t calls,
                               tracing::command prefix) {
  const auto program = tracing::lab_directory() / "traced" / ("resident-" + std::string(build));
  prefix.push_back(program.string());
  prefix.push_back(std::to_string(threads));
  prefix.push_back(std::to_string(calls));
  const std::string line = tracing::run(prefix);
  std::istringstream in(line);
  resident found;
  if (!(in >> found.rss >> found.pss >> found.page_tables >> found.result)) {
    throw std::runtime_error(program.string() + " printed `" + line + "`, not four numbers");
  }
  return found;
}

void problem::record(const tracing::recorder& with, region& timed) {
  const auto bare = traces_.fresh("bare");
  const std::int64_t bare_plain = run(with.build, 0, 0, {}).all();
  without_threads_ = run(with.build, 0, 0, with.prefix(bare)).all() - bare_plain;

  const auto trace = traces_.fresh("trace");
  const std::int64_t rounds = calls_ - 1;  // work() is a call, too
  plain_ = run(with.build, threads_, rounds, {});
  timed.begin();
  recorded_ = run(with.build, threads_, rounds, with.prefix(trace));
  timed.end();
  timed.kernel_threads(static_cast<std::uint64_t>(threads_));
  evidence_ = {.expected_result = plain_.result,
               .result = recorded_.result,
               .calls_made = static_cast<std::uint64_t>(threads_ * calls_),
               .calls_found = with.calls(trace),
               .lossless = with.lossless};
}

void problem::report(const region&, results& out, const rerun&) const {
  const std::int64_t extra = recorded_.all() - plain_.all();
  const std::int64_t tables = recorded_.page_tables - plain_.page_tables;
  out.metrics.add("extra_bytes", extra)
      .add("extra_pss_bytes", recorded_.pss - plain_.pss + tables)
      .add("thread_bytes",
           static_cast<double>(extra - without_threads_) / static_cast<double>(threads_));
  out.counters.add("extra_page_table_bytes", tables);
}

}  // namespace heddle::lab::trace_memory
