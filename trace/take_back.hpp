// Short calls leave no record (--min-time): an exit takes its enter back, if that is the last
// record. Nor does what --coroutines says of calls that are left out.
#pragma once

#include "thread.hpp"

namespace heddle::trace {

/// Takes an enter back, if this is its exit, fewer than `min_ticks` later, and nothing was recorded
/// in between but a base; and its capture and that base. False: the enter stays. For hooks: a
/// signal handler may interrupt it anywhere. O(1), as discard_last_base() is.
[[nodiscard]] bool take_back(Thread& thread, const Call& exit, bool tail, std::uint64_t now,
                             std::uint64_t min_ticks);

/// Takes back the capture of an enter of this function (the low 32 bits count) that is left out, if
/// that is the last record. For hooks, likewise.
void take_back_capture(Thread& thread, std::uint64_t function);

}  // namespace heddle::trace
