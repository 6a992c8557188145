// The window, which a thread's hooks find through the thread pointer: where the next record goes.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// The hooks' other forms (arch/x86_64_hooks.S), chosen when recording starts; the plain one is not
/// in a set, because it comes first and pays for no other.
struct HookSet {
  const void* function_enter;
  const void* function_exit;
  const void* entry_enter;
  const void* entry_exit;
};

extern "C" {
/// Most events don't read the clock.
[[gnu::visibility("hidden")]] extern const HookSet heddle_sparse_hooks;
/// They look first whether the event is wanted, and where they cannot tell, ask heddle_wanted.
[[gnu::visibility("hidden")]] extern const HookSet heddle_filtered_hooks;
/// With --depth alone: they do so faster.
[[gnu::visibility("hidden")]] extern const HookSet heddle_depth_hooks;
/// With --min-time alone: exits discard the enters of short calls.
[[gnu::visibility("hidden")]] extern const HookSet heddle_brief_hooks;
/// The same four, but enters of C++20 coroutines are preceded by a record of the frame
/// (coroutines.hpp).
[[gnu::visibility("hidden")]] extern const HookSet heddle_capturing_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_sparse_capturing_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_filtered_capturing_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_brief_capturing_hooks;
/// With --args or --retval: records of arguments and results come before the events of calls of
/// which the plan tells any (values.hpp), and those of frames as above.
[[gnu::visibility("hidden")]] extern const HookSet heddle_valued_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_sparse_valued_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_filtered_valued_hooks;
[[gnu::visibility("hidden")]] extern const HookSet heddle_brief_valued_hooks;
/// They count the event in a word that other threads count in, too: `dropped`.
[[gnu::visibility("hidden")]] extern const HookSet heddle_losing_hooks;
}

struct FollowedStack;

/// The hooks read it, in a restartable sequence; the slow path, which blocks signals, writes it. So
/// whatever a hook has read of it holds until its record is stored. All zeros in a forked child:
/// its first hook takes the slow path.
struct Window {
  std::uint64_t* enter_sequence;  ///< where the thread announces a restartable sequence to store an
                                  ///< enter; null: go on with `hooks`
  std::uint64_t* exit_sequence;   ///< an exit
  std::uint64_t* position;  ///< holds the address of the next record. Null, set also by another
                            ///< thread: the slow path first
  std::uint64_t limit;      ///< the last address at which a hook's record may begin
  std::uint64_t ticks;      ///< the base's ticks without their low 26 bits
  std::uint64_t base_stack;
  std::uint64_t* dropped;       ///< count here instead of recording; null: record
  const HookSet* hooks;         ///< where to go on without a sequence; null: the slow path
  std::uint64_t* own_sequence;  ///< these hooks' sequence
  FollowedStack* followed;      ///< with a filter: the thread's two stacks (filter_frames.hpp)
  std::uint64_t base_end;       ///< with --min-time: address behind the record of the base, which
                                ///< for a run's first base is the run's
  std::uint64_t min_ticks;      ///< an exit discards the enter of a shorter call
  std::uint64_t strand;         ///< the strand that was announced last; 0: none, or not known
};

}  // namespace heddle::trace
