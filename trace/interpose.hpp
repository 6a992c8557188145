// Functions of libc that the recorder stands in front of.
#pragma once

namespace heddle::trace {

/// Finds the real longjmp, which a signal handler may need first, where dlsym must not be called.
void find_jumps();

}  // namespace heddle::trace
