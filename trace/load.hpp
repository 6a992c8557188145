// Settings that the library reads when it is loaded, before the program can change them. They
// survive fork.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

/// The environment variables that heddle record sets for the library. load() can read no other, and
/// each of them goes to children, too (environment.hpp).
enum class Variable : std::uint32_t {
  kDirectory,
  kClock,
  kPaused,
  kCoroutines,
  kSnapshotSignal,
  kFlight,
  kPatterns,
  kDepth,
  kMinTime,
  kRedact,
  kValues,
  kSched,
  kCount,
};

inline constexpr std::size_t kVariables = static_cast<std::size_t>(Variable::kCount);

/// Its name, with the `=` that follows that in an environment.
constexpr const char* name_of(Variable variable) {
  constexpr const char* kNames[] = {
      "HEDDLE_DIR=",        "HEDDLE_CLOCK=",           "HEDDLE_PAUSED=",
      "HEDDLE_COROUTINES=", "HEDDLE_SNAPSHOT_SIGNAL=", "HEDDLE_FLIGHT=",
      "HEDDLE_PATTERNS=",   "HEDDLE_DEPTH=",           "HEDDLE_MIN_TIME=",
      "HEDDLE_REDACT=",     "HEDDLE_VALUES=",          "HEDDLE_SCHED="};
  static_assert(sizeof kNames / sizeof kNames[0] == kVariables);
  return kNames[static_cast<std::size_t>(variable)];
}

/// HEDDLE_COROUTINES: no frames (off); where heddle record tells, and by looking where it cannot
/// tell (auto); by looking everywhere (scan).
enum class Coroutines : std::uint32_t { kOff, kPlanned, kLooked };

struct Loaded {
  bool done;
  bool barred;  ///< the program has given up system calls that recording needs (seccomp.cpp)
  bool blind;   ///< the same of the one that reads memory which may not be there (frame_search.cpp)
  bool linkless;  ///< the same of the one that says what a descriptor stands for (sync/calls.cpp)
  bool secure;  ///< the program has other rights than who started it: nothing is recorded, or said
  bool bare;    ///< no HEDDLE_DIR: the trace goes into the directory of the time, and we say where
  bool sparse;  ///< HEDDLE_CLOCK=sparse
  bool paused;  ///< HEDDLE_PAUSED=1: until heddle_start()
  bool redact;  ///< HEDDLE_REDACT=1: the program's arguments are not written
  bool values;  ///< HEDDLE_VALUES=1: the plan tells of arguments and results
  bool sched;   ///< HEDDLE_SCHED=1: calls into the kernel that took long are told of; not if barred
  bool allocation;  ///< calls of malloc and its like are timed (alloc/); not if barred
  std::uint32_t snapshot_signal;  ///< HEDDLE_SNAPSHOT_SIGNAL, 0 = none
  std::uint32_t patterns;         ///< HEDDLE_PATTERNS, kIncluded … of filter.hpp
  std::uint32_t depth;            ///< HEDDLE_DEPTH, 0 = no limit
  std::uint64_t min_ns;           ///< HEDDLE_MIN_TIME, ns
  Coroutines coroutines;          ///< HEDDLE_COROUTINES
  std::uint64_t flight;           ///< HEDDLE_FLIGHT, bytes; 0 = keep everything
  char working[4096];             ///< working directory
  char directory[4096];           ///< the trace directory, absolute; empty until a bare one is made
  std::uint32_t made_by;          ///< pid that made a bare trace directory, 0 = not made
  bool stderr_open;
  std::uint64_t stderr_device, stderr_inode;
};

extern Loaded loaded;

/// Fills `loaded`, once: from the library's constructor, or from the first hook where one runs
/// earlier.
void load();

/// The trace directory with its marker file, made if need be by the process `pid`. Null, with
/// `error` set to a negated error number and `loaded.directory` to what could not be made. Call
/// with the process lock held.
[[nodiscard]] const char* trace_directory(std::uint32_t pid, long& error);

/// Writes the marker file of a trace directory, if it is not there. 0 or a negated error; call with
/// the process lock held.
[[nodiscard]] long mark_trace(const char* directory);

}  // namespace heddle::trace
