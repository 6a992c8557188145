// Short calls leave no record (--min-time): an exit discards its enter, if that is the last record.
// Captures (--coroutines) of calls that the filter leaves out are discarded, too.
#pragma once

#include "thread.hpp"

namespace heddle::trace {

/// Discards the enter of this exit, with the enter's capture, if the call took less than
/// `min_ticks` and nothing but a base, which is discarded as well, was recorded behind the enter.
/// Returns whether it did. For hooks: a signal handler may interrupt it anywhere. O(1), as
/// discard_last_base() is.
[[nodiscard]] bool discard_enter(Thread& thread, const Call& exit, bool tail, std::uint64_t now,
                                 std::uint64_t min_ticks);

/// Discards the last record if it is the capture of an enter of this function, of which the low 32
/// bits count. Called where the filter leaves the enter out. For hooks, likewise.
void discard_capture(Thread& thread, std::uint64_t function);

}  // namespace heddle::trace
