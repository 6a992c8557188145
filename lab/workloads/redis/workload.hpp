#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/model.hpp"
#include "workloads/tracing/command.hpp"

namespace heddle::lab::redis {

/// Measures what recording costs Redis: one client sets and gets values, fifty commands at a time,
/// and Redis says what processor time it took for them.
///
/// The recorder's own process, which takes the calls from memory to a file, is not in it; what the
/// threads of Redis do for it is.
///
/// Metrics: `command_cpu_ns`, processor time of a command. Counters: `calls`, those in the trace.
class problem {
 public:
  static constexpr std::string_view name = "redis";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  void run_untraced(region& timed);
  /// Runs it under `heddle record` with these options.
  void record(const tracing::command& options, region& timed);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  void run(const tracing::command& prefix, region& timed);

  std::int64_t commands_;
  tracing::scratch place_;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t commands_traced_ = 0;
  std::string wrong_;  // the first answer that is
  bool recorded_ = false;
};

}  // namespace heddle::lab::redis
