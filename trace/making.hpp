// Makings: a thread that forks, or creates a thread, says so in its records, and what it makes
// refers to that record. So the records say within which calls, and on which strand, it was made.
#pragma once

#include "process.hpp"

namespace heddle::trace {

/// Records that the calling thread is about to make something. The record's number, from 1. 0, and
/// no record: the thread has no buffer, or no room in it, or recording is paused.
[[nodiscard]] std::uint32_t record_making(Process& process, Making what);

}  // namespace heddle::trace
