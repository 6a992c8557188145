#include "workloads/call_log/workload.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace heddle::lab::call_log {
namespace {

struct step {
  std::string_view what;
  std::string_view function;
  std::string_view caller;       // empty: the C library's, whatever its name
  std::int64_t least_units = 0;  // that have passed since the line before
};

constexpr std::array<step, 8> design{{
    {"Enter", "main", "", 0},
    {"Enter", "_Z1Av", "main", 0},
    {"Enter", "_Z1Bv", "_Z1Av", 2},
    {"Enter", "_Z1Cv", "_Z1Bv", 5},
    {"Exit", "_Z1Cv", "_Z1Bv", 7},
    {"Exit", "_Z1Bv", "_Z1Av", 0},
    {"Exit", "_Z1Av", "main", 0},
    {"Exit", "main", "", 0},
}};

// The clocks' rates may differ, and both times are cut to a microsecond.
std::int64_t nearly(std::int64_t us) { return us - us / 1000 - 2; }

// |the log's time - the program's|, of each reading.
std::vector<std::int64_t> errors(const std::vector<entry>& log,
                                 const std::vector<reading>& readings) {
  std::vector<std::int64_t> differences;
  for (const reading& each : readings) {
    for (const entry& line : log) {
      if (line.what + " " + line.function == each.what) {
        differences.push_back(std::abs(line.time_us * 1000 - each.time_ns));
      }
    }
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

// Calls that were entered inside of another and ended before it did.
std::uint64_t nested_calls(const std::vector<entry>& log) {
  std::uint64_t nested = 0;
  std::vector<std::string> open;
  for (const entry& line : log) {
    if (line.what == "Enter") {
      open.push_back(line.function);
    } else if (!open.empty() && open.back() == line.function) {
      open.pop_back();
      nested += open.empty() ? 0 : 1;
    }
  }
  return nested;
}

}  // namespace

std::vector<reading> parse_readings(const std::string& text) {
  std::vector<reading> readings;
  std::istringstream lines(text);
  std::string what;
  std::string function;
  std::int64_t time_ns = 0;
  while (lines >> what >> function >> time_ns) readings.push_back({what + " " + function, time_ns});
  return readings;
}

verdict judge(const std::vector<entry>& log, std::int64_t unit_us) {
  for (std::size_t i = 0; i < std::max(log.size(), design.size()); ++i) {
    const std::string line = "line " + std::to_string(i + 1) + ": ";
    if (i >= log.size() || i >= design.size()) {
      return {false, line + "expected " + std::to_string(design.size()) + " lines, there are " +
                         std::to_string(log.size())};
    }
    const entry& got = log[i];
    const step& expected = design[i];
    if (got.what != expected.what || got.function != expected.function ||
        (!expected.caller.empty() && got.caller != expected.caller)) {
      return {false, line + "expected " + std::string(expected.what) + " " +
                         std::string(expected.function) + " called by " +
                         std::string(expected.caller) + ", got " + got.what + " " + got.function +
                         " called by " + got.caller};
    }
    const std::int64_t passed = i == 0 ? 0 : got.time_us - log[i - 1].time_us;
    if (passed < std::max<std::int64_t>(0, nearly(expected.least_units * unit_us))) {
      return {false, line + "expected " + std::to_string(expected.least_units * unit_us) +
                         " µs after the line before, it is " + std::to_string(passed)};
    }
  }
  return {true, "8 lines, nested, each call with its caller, at least its sleeps apart"};
}

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("unit-us", 1000, 100, 1'000'000, "A sleeps 2 of these, B 5 and C 7"),
  };
}

void problem::run(tracing::command prefix) {
  prefix.push_back((tracing::lab_directory() / "traced" / "abc").string());
  prefix.push_back(std::to_string(unit_us_));
  readings_ = parse_readings(tracing::run(prefix));
  if (readings_.size() != 6) {
    throw std::runtime_error("the program printed " + std::to_string(readings_.size()) +
                             " readings of its clock, not 6");
  }
}

verdict problem::check() const {
  for (const std::string& failure : failures_) return {false, "expected: " + failure};
  verdict of_log = judge(log_, unit_us_);
  if (of_log.ok) of_log.checked += checked_;
  return of_log;
}

void problem::report(const region&, results& out, const rerun&) const {
  out.metrics.add("lines", static_cast<std::uint64_t>(log_.size()));
  out.counters.add("calls", static_cast<std::uint64_t>(log_.size() / 2))
      .add("nested_calls", nested_calls(log_));
  const std::vector<std::int64_t> found = errors(log_, readings_);
  if (found.empty()) return;
  // The time between both readings, for a hook's own work or another process, only ever adds to
  // their difference: so the smaller differences show the accuracy of the log's clock.
  out.metrics.add("clock_error_ns", found[found.size() / 4]).add("worst_error_ns", found.back());
}

}  // namespace heddle::lab::call_log
