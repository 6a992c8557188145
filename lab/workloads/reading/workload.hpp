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
/// - `events_per_s`: by the clock on the wall,
/// - `reader_peak_bytes`: the most memory that the report had.
class problem {
 public:
  static constexpr std::string_view name = "reading";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  /// Records and reports with this recorder and its reader.
  void report_of(const tracing::recorder& with, region& timed);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  tracing::traced_program program_;
  std::int64_t events_;  // wanted
  tracing::scratch traces_;
  tracing::traced_program::calls made_;
  std::uint64_t found_ = 0;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace heddle::lab::reading
