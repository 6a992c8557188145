#pragma once

#include <cstdint>
#include <string_view>

#include "harness/model.hpp"
#include "workloads/tracing/recorder.hpp"
#include "workloads/tracing/traced_program.hpp"

namespace heddle::lab::reading {

/// Measures the cost of reading a trace: a program is recorded, then its calls and times by
/// function are reported, which reads every event. Only the report is measured.
///
/// Metrics, an event being one enter or one exit:
/// - `event_cpu_ns`: processor time of the report, all its threads together, an event,
/// - `event_system_ns`: the part of that in the kernel, most of which is first touches of memory,
/// - `events_per_s`: by the clock on the wall,
/// - `reader_peak_bytes`: the most memory that the report had.
///
/// Counter `reader_page_faults`: those of the report.
class problem {
 public:
  static constexpr std::string_view name = "reading";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  /// Records and reports with this recorder and its reader.
  void report_of(const tracing::recorder& with, region& timed);

  /// The same of `fib`, as many events of plain calls, whatever `program` is: what other programs'
  /// events are set against.
  void report_of_fib(const tracing::recorder& with, region& timed);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // What commands have taken.
  struct spent {
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    std::uint64_t page_faults = 0;

    // By those that have ended.
    static spent by_commands();
    [[nodiscard]] spent since(const spent& before) const;
  };

  void report_of(tracing::traced_program& program, const tracing::recorder& with, region& timed);

  tracing::traced_program program_;
  tracing::traced_program fib_;
  std::int64_t events_;  // wanted
  tracing::scratch traces_;
  tracing::traced_program::calls made_;
  std::uint64_t found_ = 0;
  spent spent_;
  std::uint64_t peak_ = 0;
};

}  // namespace heddle::lab::reading
