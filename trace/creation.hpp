// Who creates a thread.
#pragma once

namespace heddle::trace {

/// Finds the real pthread_create and thrd_create, before a thread calls ours.
void find_creation();

}  // namespace heddle::trace
