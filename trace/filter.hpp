// Recording less: which calls are wanted (heddle record --filter, --exclude, --depth, --start-at,
// --stop-at, --min-time).
#pragma once

#include "filter_frames.hpp"
#include "thread.hpp"

extern "C" {

/// Whether to record a call's enter or exit: 0 no, 1 yes, 2 yes, but by the slow path. Asked by the
/// hooks with struct Call's parts, where the innermost frame has no answer for the event
/// (filter_frames.hpp); general registers alone, no lock, no call into libc but for the
/// address of errno; a signal handler may interrupt it anywhere, except where it blocks signals to
/// discard a base. It also follows the calls, so it is to be asked once at most for each
/// event. Constant time, but for the first call of a function: O(log functions matched).
[[gnu::visibility("hidden")]] std::uint32_t heddle_wanted(std::uint64_t function,
                                                          std::uint64_t call_site,
                                                          std::uint64_t stack_pointer,
                                                          std::uint64_t kind);
}

namespace heddle::trace {

/// The patterns' verdict on a function, as bits.
inline constexpr std::uint32_t kIncluded = 1, kExcluded = 2, kStarts = 4, kStops = 8;

/// The filter that the user asked for; the same in every process of a trace.
struct FilterSettings {
  bool active;              ///< anything of this
  std::uint32_t patterns;   ///< of which kinds there are patterns: kIncluded …
  std::uint32_t depth;      ///< 0 = no limit
  std::uint64_t min_ticks;  ///< shorter calls leave no record; 0 = all do
};

extern FilterSettings filter;

/// Whether --min-time is all there is: then every enter is recorded.
[[nodiscard]] inline bool only_short_calls_are_left_out(const FilterSettings& settings) {
  return settings.active && settings.patterns == 0 && settings.depth == 0;
}

/// Whether --depth is all there is.
[[nodiscard]] inline bool only_deep_calls_are_left_out(const FilterSettings& settings) {
  return settings.depth != 0 && settings.patterns == 0 && settings.min_ticks == 0;
}

/// The deepest limit: deeper calls are rare, and each level takes memory in every thread.
inline constexpr std::uint32_t kMostDepth = 4096;

/// Takes over what heddle record has asked for; call once per process, with the clock chosen.
void prepare_filter();

/// Gives the calling thread what it needs to follow its calls. Without memory for it, everything is
/// recorded.
void begin_filter(Thread& thread);
void end_filter();

/// To be called before a jump to a frame with this stack pointer: calls below it are over, but for
/// those that lie lower than `lowest`.
void filter_leave(std::uint64_t lowest, std::uint64_t stack_pointer);

/// To be called when the calling thread has a new alternate signal stack, or none (0 and 0); with
/// the caller's stack pointer.
void filter_handlers_on(std::uint64_t low, std::uint64_t high, std::uint64_t stack_pointer);

/// Whether the thread has to tell that recording was off before its next event, which is done by
/// this.
[[nodiscard]] bool take_filter_gap();

}  // namespace heddle::trace
