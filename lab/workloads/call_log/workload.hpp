#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/call_log/log.hpp"
#include "workloads/tracing/command.hpp"

namespace heddle::lab::call_log {

/// A time of day that the program itself read next to a hook's call.
struct reading {
  std::string what;      ///< `Enter _Z1Av`
  std::int64_t time_ns;  ///< since 1970
};

[[nodiscard]] std::vector<reading> parse_readings(const std::string& text);

/// Whether a log has the program's calls in order, each with its caller, and time passes as its
/// sleeps say: `unit_us` microseconds twice in A, five times in B, seven in C.
[[nodiscard]] verdict judge(const std::vector<entry>& log, std::int64_t unit_us);

/// The source's sample (3.1): A calls B calls C, each sleeps, and a log in the source's form says
/// so.
///
/// Metrics: `lines`, of the program's calls in the log; `clock_error_ns`, how far the log's time is
/// from what the program read from its clock right beside, the lower quartile of its six readings,
/// and `worst_error_ns`. Counters: `calls`, and `nested_calls`, those that lie within another.
class problem {
 public:
  static constexpr std::string_view name = "call-log";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values) { return values; }

  explicit problem(const parameters& values) : unit_us_(values.integer("unit-us")) {}

  /// Where a trace may be put.
  [[nodiscard]] const tracing::scratch& place() const { return place_; }
  /// Runs the program with words in front of its command.
  void run(tracing::command prefix);
  /// The log that came of it.
  void found(std::vector<entry> log) { log_ = std::move(log); }
  /// Something else that has to be so.
  void expect(bool so, const std::string& what) {
    if (!so) failures_.push_back(what);
    checked_ += ", " + what;
  }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t unit_us_;
  tracing::scratch place_;
  std::vector<reading> readings_;
  std::vector<entry> log_;
  std::vector<std::string> failures_;
  std::string checked_;
};

}  // namespace heddle::lab::call_log
