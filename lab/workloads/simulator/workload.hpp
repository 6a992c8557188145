#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/simulator/scenario.hpp"

namespace heddle::lab::simulating {

/// Applications of a simulated network, written as the FiberContext article wants them, with calls
/// that block, and turned inside out, as a discrete-event simulator wants them.
///
/// - event-loop/single: a state machine for each application. What all others must equal, event by
///   event, and what they cost more than is what blocking costs.
/// - fiber/*, thread, stackless, goroutine: each application is a strand that blocks in read() and
///   sleep(), on the same simulator; the mechanism is what takes it out of the event loop and back.
/// - cooperative/*: the same code on our scheduler's virtual time, which is the simulator then.
///
/// Metrics: `blocked_call_ns` = wall / calls that blocked; `event_ns` = wall / events noted;
/// `over_events_ns` = what a blocked call takes longer than in the event-driven form, run by the
/// oracle in the same process.
class problem {
 public:
  static constexpr std::string_view name = "simulator";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] const scenario& given() const { return scenario_; }
  /// Where the model notes what happens.
  [[nodiscard]] history& happened() { return happened_; }
  /// A call had to wait: a read without data, a sleep.
  void blocked() { ++blocked_; }

  /// Once, before report().
  [[nodiscard]] verdict check();
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  scenario scenario_;
  history happened_;
  std::int64_t blocked_ = 0;
  std::uint64_t event_driven_ns_ = 0;
};

}  // namespace heddle::lab::simulating
