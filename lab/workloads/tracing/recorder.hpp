#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "workloads/tracing/command.hpp"

namespace heddle::lab::tracing {

/// The way in which a program is built and run to be recorded.
struct recorder {
  /// Which build of the program: `plain`, `functions` (-finstrument-functions), `own` (the same
  /// without what the standard library's headers define), `fentry`, `pg`.
  std::string_view build;
  /// Returns the part of the command line before the program; `trace` is where the trace is to be.
  command (*prefix)(const std::filesystem::path& trace) = nullptr;
  /// The calls that are in the trace, by the recorder's own reader; null where nothing is kept.
  std::uint64_t (*calls)(const std::filesystem::path& trace) = nullptr;
  /// Whether a call that is missing makes the run wrong; if not, it is counted as lost.
  bool lossless = false;
  /// Whether it is asked to leave calls out: they cost it something, too, and are not lost.
  bool leaves_out = false;
  /// If it leaves out the calls that another build of the program does not make, that build: then
  /// exactly the others are to be in the trace.
  std::string_view keeps = {};
};

/// The prefix that preloads the hooks `name` of this lab.
[[nodiscard]] command preloaded(std::string_view name, const std::filesystem::path& trace);

/// Number of calls in the log of the naive hooks.
[[nodiscard]] std::uint64_t naive_calls(const std::filesystem::path& trace);

/// `heddle record`, with options of its own.
[[nodiscard]] command heddle_record(const std::filesystem::path& trace,
                                    const command& options = {});
/// Number of calls that `heddle tree` counts, which assigns every call to its strand.
[[nodiscard]] std::uint64_t heddle_strand_calls(const std::filesystem::path& trace);
/// Number of calls that `heddle report` counts.
[[nodiscard]] std::uint64_t heddle_calls(const std::filesystem::path& trace);
/// Those of one function.
[[nodiscard]] std::uint64_t heddle_calls_of(const std::filesystem::path& trace,
                                            std::string_view function);

/// The library alone, without `heddle record`: it records into the working directory, which is
/// made.
[[nodiscard]] command heddle_preload(const std::filesystem::path& trace);
/// Number of calls that `heddle report` counts in that trace.
[[nodiscard]] std::uint64_t heddle_preload_calls(const std::filesystem::path& trace);

/// `uftrace record`, of the program's functions alone: no library calls, no scheduler events.
[[nodiscard]] command uftrace_record(const std::filesystem::path& trace);
/// Number of calls that `uftrace report` counts.
[[nodiscard]] std::uint64_t uftrace_calls(const std::filesystem::path& trace);

/// The first number in a file that hooks have written.
[[nodiscard]] std::uint64_t number_in(const std::filesystem::path& file);

}  // namespace heddle::lab::tracing
