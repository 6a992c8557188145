#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/tracing/busy.hpp"
#include "workloads/tracing/oracle.hpp"
#include "workloads/tracing/recorder.hpp"
#include "workloads/tracing/traced_program.hpp"

namespace heddle::lab::tracing {

/// Measures the cost of recording a call: a program of tens of thousands of calls and more,
/// recorded in one of several ways.
///
/// The calls are counted independently: before it is recorded, the same build of the program runs
/// with hooks that do nothing but count. (A first count, of a few rounds, finds out how many rounds
/// make the events that are wanted.) An *event* is one enter or one exit.
///
/// Metrics, an event being one that is in the trace, or made where nothing is kept or calls are to
/// be left out:
/// - `event_ns`: processor time of the program's threads an event (not of the processes that help a
///   recorder, which is what a core that would be idle else is for),
/// - `slowdown`: the same over that of the program built without hooks, measured in the same run,
/// - `events_per_s`: of all threads together, by the clock on the wall,
/// - `bytes_per_event`: what the trace takes on disk, holes of its files included,
/// - `events_lost`: calls that were made and are not in the trace, twice (enter and exit).
class problem {
 public:
  static constexpr std::string_view name = "tracing";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  /// Runs the program, recorded by `with`.
  void record(const recorder& with, region& timed);

  [[nodiscard]] verdict check() const {
    return judge({plain_.result, recorded_.result, kept_, found_, lossless_});
  }
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  traced_program program_;
  std::uint64_t threads_;
  std::int64_t events_;  // wanted
  std::int64_t longest_ns_;
  scratch traces_;
  busy_processors others_;

  traced_program::outcome plain_;
  traced_program::outcome recorded_;
  traced_program::calls made_;          // by our own count
  std::uint64_t kept_ = 0;              // how many of them are to be in the trace
  std::optional<std::uint64_t> found_;  // calls that are in the trace
  std::uint64_t trace_bytes_ = 0;
  bool lossless_ = false;
  bool leaves_out_ = false;
};

}  // namespace heddle::lab::tracing
