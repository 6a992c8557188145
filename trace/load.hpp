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
  kIdentity,
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
      "HEDDLE_DIR=",        "HEDDLE_TRACE=",           "HEDDLE_CLOCK=",  "HEDDLE_PAUSED=",
      "HEDDLE_COROUTINES=", "HEDDLE_SNAPSHOT_SIGNAL=", "HEDDLE_FLIGHT=", "HEDDLE_PATTERNS=",
      "HEDDLE_DEPTH=",      "HEDDLE_MIN_TIME=",        "HEDDLE_REDACT=", "HEDDLE_VALUES=",
      "HEDDLE_SCHED="};
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
  /// HEDDLE_TRACE, or what was found there first: only this directory is written to, whatever has
  /// its name by then.
  bool identified;
  std::uint64_t device, inode;
  std::uint32_t made_by;  ///< pid that made a bare trace directory, 0 = not made
  bool stderr_open;
  bool stderr_may_fill;  ///< a pipe or socket, which makes writers wait when nobody reads
  std::uint64_t stderr_device, stderr_inode;
};

extern Loaded loaded;

/// Fills `loaded`, once: from the library's constructor, or from the first hook where one runs
/// earlier.
void load();

/// Opens the trace's directory (O_PATH), marked, and made if need be by the process `pid` where no
/// heddle record has done so. A negated error, with `loaded.directory` what could not be made or
/// opened: -ESTALE and -ENOTEMPTY where something else is there. Call with the process lock held.
[[nodiscard]] long join_trace(std::uint32_t pid);

/// Opens the trace's directory (O_PATH). A negated error; -ESTALE where another directory than this
/// process was started for, or than it knows, has its name, and for a link.
[[nodiscard]] long open_trace();

/// Opens a file there, and no link.
[[nodiscard]] long open_in_trace(const char* name, int flags, unsigned mode = 0);

/// Writes the marker file of an open trace directory, if it is not there. 0 or a negated error:
/// -ENOTEMPTY, and nothing is written, where other files are.
[[nodiscard]] long mark_trace(long trace);

}  // namespace heddle::trace
