#include "workloads/redis/workload.hpp"

#include <filesystem>
#include <stdexcept>

#include "workloads/redis/server.hpp"
#include "workloads/tracing/recorder.hpp"

namespace heddle::lab::redis {
namespace {

// A command's value is 3 bytes, as in redis-benchmark.
constexpr std::string_view value = "xxx";
constexpr std::int64_t together = 50;
constexpr std::int64_t keys = 1000;

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

struct exchange {
  std::string questions, answers;
};

// The commands from `first` on: each value is set, and got by the command after.
exchange some(std::int64_t first, std::int64_t count) {
  exchange found;
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::string key = "key:" + std::to_string(i / 2 % keys);
    if (i % 2 == 0) {
      found.questions += "*3\r\n" + bulk("SET") + bulk(key) + bulk(value);
      found.answers += "+OK\r\n";
    } else {
      found.questions += "*2\r\n" + bulk("GET") + bulk(key);
      found.answers += bulk(value);
    }
  }
  return found;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {parameter::integer("commands", 20'000, together, 100'000'000,
                             "commands, half of them SET, half of them GET")};
}

parameters problem::small(const parameters& values) { return values.with("commands", together); }

problem::problem(const parameters& values)
    : commands_(values.integer("commands") / together * together) {}

void problem::run_untraced(region& timed) { run({}, timed); }

void problem::record(const tracing::command& options, region& timed) {
  const auto trace = place_.fresh("trace");
  recorded_ = true;
  run(tracing::heddle_record(trace, options), timed);
  calls_ = tracing::heddle_calls(trace);
  // Each command that is executed is one call of it.
  commands_traced_ = tracing::heddle_calls_of(trace, "call");
}

void problem::run(const tracing::command& prefix, region& timed) {
  const auto directory = place_.fresh("server");
  std::filesystem::create_directory(directory);
  server one(prefix, tracing::lab_directory() / "traced" / "redis-functions", directory);
  const std::uint64_t before = one.cpu_ns();
  timed.begin();
  for (std::int64_t at = 0; at < commands_; at += together) {
    const exchange batch = some(at, together);
    const std::string answers = one.ask(batch.questions, batch.answers.size());
    if (answers != batch.answers && wrong_.empty()) wrong_ = answers;
  }
  timed.end();
  cpu_ns_ = one.cpu_ns() - before;
  one.end();
}

verdict problem::check() const {
  if (!wrong_.empty()) return {.ok = false, .checked = "answers: there came `" + wrong_ + "`"};
  if (!recorded_) return {.ok = true, .checked = "each answer"};
  // Two INFO and the SHUTDOWN are commands, too.
  const auto expected = static_cast<std::uint64_t>(commands_) + 3;
  return {.ok = commands_traced_ == expected,
          .checked = "each answer, and " + std::to_string(expected) +
                     " calls of call(), which executes a command, in the trace: " +
                     std::to_string(commands_traced_)};
}

void problem::report(const region&, results& out, const rerun&) const {
  out.metrics.add("command_cpu_ns", static_cast<double>(cpu_ns_) / static_cast<double>(commands_));
  out.counters.add("calls", calls_);
}

}  // namespace heddle::lab::redis
