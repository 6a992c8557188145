// The real functions behind ours, and what C11's give.
#pragma once

#include <errno.h>
#include <threads.h>

#include "../interpose.hpp"

namespace heddle::trace {

/// The functions of a file, looked for when the library is loaded: a signal handler may need one
/// first, where dlsym must not be called.
void find_mutexes();
void find_rwlocks();
void find_conditions();
void find_semaphores();
void find_others();
void find_futex();

/// What C11's function has given, as the error number that POSIX's would have given.
inline int error_of(int result) {
  switch (result) {
    case thrd_success:
      return 0;
    case thrd_busy:
      return EBUSY;
    case thrd_timedout:
      return ETIMEDOUT;
    case thrd_nomem:
      return ENOMEM;
    default:
      return EINVAL;
  }
}

/// Whether a function of libc that looks at a clock and a time first takes them.
inline bool is_usual(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
inline bool is_time(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

}  // namespace heddle::trace
