// Snapshots: a flight recorder's records, copied to a trace of their own while the program runs on.
#pragma once

#include "process.hpp"

namespace heddle::trace {

/// Writes `<trace>/snapshot-<n>` with the blocks of all threads. 0 or a negated error. Signals
/// blocked; takes the process lock.
[[nodiscard]] long take_snapshot(Process& process);

/// Makes the signal of HEDDLE_SNAPSHOT_SIGNAL take one, unless the program handles it itself.
void prepare_snapshot_signal();

}  // namespace heddle::trace
