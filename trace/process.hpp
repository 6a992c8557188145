// The traced process: its directory in the trace, its header, its threads.
#pragma once

#include "clock.hpp"
#include "lock.hpp"
#include "modules.hpp"

namespace heddle::trace {

struct Thread;

enum class Recording : std::uint32_t { kNotStarted = 0, kRunning, kImpossible };

/// All that is known of this process, in memory that fork wipes: a child starts from nothing at its
/// first hook. What the parent had mapped stays mapped in the child, untouched: a handler may have
/// forked in the middle of a hook. (A vfork child shares its parent's memory and so writes into its
/// parent's files, as the thread that called vfork.)
struct Process {
  Lock lock;
  Recording state;
  ProcessHeader* header;  ///< null unless running
  Thread* threads;        ///< those that live and have a file
  std::uint64_t lost;     ///< events with no file to count them in
  long error;             ///< why recording is impossible, negated
  bool trouble_noted;
  char directory[4160];
  Modules modules;
};

/// The process block; null if there was no memory for it, and then nothing is recorded.
[[nodiscard]] Process* process();

/// Number of process_start() calls in this address space and its ancestors: tells a process from
/// the one it was forked from.
extern std::uint32_t process_instance;

/// Makes the process directory and its header. Call with the lock held; sets state and error.
void process_start(Process& process);

/// Overwrites the latest stamp. Call with the lock held.
void process_stamp(Process& process);

/// Counts an event that has no thread file.
void process_lost(Process& process);

}  // namespace heddle::trace
