// The traced process: its directory in the trace, its header, its threads.
#pragma once

#include "arch/x86_64.hpp"
#include "clock.hpp"
#include "lock.hpp"
#include "modules.hpp"
#include "window.hpp"

namespace heddle::trace {

struct Thread;

enum class Recording : std::uint32_t { kNotStarted = 0, kRunning, kImpossible };

/// All that is known of this process, in memory that fork wipes: a child starts from nothing at its
/// first hook. What the parent had mapped stays mapped in the child, untouched. (A vfork child
/// shares its parent's memory and so writes into its parent's buffer, as the thread that called
/// vfork.)
struct Process {
  Lock lock;
  std::uint32_t pid, parent;  ///< known before the first event, which may be a vfork child's
  Fork fork;                  ///< likewise
  std::uint32_t makings;      ///< records of this type so far
  Recording state;
  ProcessHeader* header;  ///< null unless running
  Control* control;       ///< null: no `heddle record` is there to collect full blocks
  Thread* threads;        ///< those that live and have a buffer
  Thread* idle;           ///< what dead ones have left, for the next
  std::uint64_t flight;   ///< bytes that may be kept; 0 = everything is
  std::uint64_t flight_used;
  bool paused;            ///< calls are not recorded until heddle_start()
  const HookSet* hooks;   ///< other than the plain ones; null: those
  bool captures;          ///< by them, coroutines' frames or values
  std::uint64_t stamped;  ///< ticks of the latest stamp
  std::uint64_t lost;     ///< events with no file to count them in
  Window losing;          ///< of threads that cannot record: their hooks only count
  bool spare;             ///< the directory is the one that heddle record has made ready
  bool unanswered;        ///< by the collector, for as long as a thread waits for it
  bool trouble_noted;
  bool snapshot_trouble_noted;
  char directory[4160];
  char path[4224];  ///< scratch; the stack may be small
  Modules modules;
  Lock plan_lock;         ///< taken before `lock` and `modules.lock`
  std::uint32_t plans;    ///< number taken
  bool plan_given_up;     ///< heddle record does not answer
  std::uint64_t planned;  ///< bytes of `modules` that the plans answer
  char plan_path[4224];   ///< scratch
  /// The registers of a thread that is being attached, which has no memory of its own yet
  /// (shelter.hpp). Guarded by `lock`.
  arch::VectorRegisters vectors;
};

/// Whether this library counts what threads wait for, and what they allocate: the folders of those
/// that do define it once more.
[[nodiscard]] bool counts_waits();
[[nodiscard]] bool counts_allocation();

/// The process block; null if there was no memory for it, and then nothing is recorded.
/// Null, too, where a seccomp filter bars the recorder: whoever asks does nothing then.
[[nodiscard]] Process* process();

/// The same also there, for what needs no system call.
[[nodiscard]] Process* process_or_barred();

/// Notes whose memory this is, at load and in a forked child: a vfork child, which borrows its
/// parent's, would be told another number.
void identify(Process& process);

/// Number of process_start() calls in this address space and its ancestors: tells a process from
/// the one it was forked from.
extern std::uint32_t process_instance;

/// Makes the process directory and its header. Call with the lock held; sets state and error.
void process_start(Process& process);

/// Overwrites the latest stamp. Call with the lock held.
void process_stamp(Process& process);

/// The same, but not before some milliseconds have passed since the last.
void process_stamp_now_and_then(Process& process);

/// Maps what `heddle record` looks at. To be called when the library is loaded: a program may give
/// up the right to later.
void find_control();

/// What tells `heddle record` of a program that this process is about to become, but that may not
/// open the trace: it has no way to say so itself. Null if it may, or nobody is there to be told.
[[nodiscard]] Control* control_if_barred();

/// Counts an event that has no buffer.
void process_lost(Process& process);

/// What is counted in tables, which may be missing.
enum class Counted : std::uint32_t { kOperation, kAllocation };

/// Counts one for which there is no table: in the process's header, or, where there is none, where
/// `heddle record` finds it.
void process_uncounted(Process& process, Counted what);

/// Notes why a table could not be made, a negated error; the first reason stands.
void table_in_trouble(Process& process, long error);

/// Notes why events are dropped, a negated error; the first reason stands.
void process_in_trouble(Process& process, long error);

}  // namespace heddle::trace
