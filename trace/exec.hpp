// Functions of libc that start a program.
#pragma once

namespace heddle::trace {

/// Finds the real ones, which children of vfork and signal handlers need, where dlsym must not be
/// called.
void find_starts();

}  // namespace heddle::trace
