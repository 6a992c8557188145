#pragma once

#include <semaphore.h>

#include <cerrno>
#include <cstdint>

#include "harness/counters.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab {

/// POSIX's counting semaphore with the textbooks' operations, P and V, between kernel threads. P
/// operations are counted, and those of them that had to wait.
class posix_semaphore {
 public:
  /// Throws std::system_error.
  explicit posix_semaphore(unsigned permits) {
    if (sem_init(&semaphore_, 0, permits) != 0) throw_errno("sem_init");
  }
  ~posix_semaphore() { sem_destroy(&semaphore_); }
  posix_semaphore(const posix_semaphore&) = delete;
  posix_semaphore& operator=(const posix_semaphore&) = delete;

  /// Takes a permit; waits in the kernel until there is one.
  void P() {
    counters& mine = count();
    ++mine.p_operations;
    if (sem_trywait(&semaphore_) == 0) return;
    ++mine.blocked_p_operations;
    while (sem_wait(&semaphore_) != 0) {
      if (errno != EINTR) throw_errno("sem_wait");
    }
  }

  /// Gives a permit, and wakes a thread that waits for one.
  void V() {
    if (sem_post(&semaphore_) != 0) throw_errno("sem_post");
  }

  /// Number of permits that can be taken now without waiting.
  [[nodiscard]] std::uint64_t permits() {
    int now = 0;
    if (sem_getvalue(&semaphore_, &now) != 0) throw_errno("sem_getvalue");
    return static_cast<std::uint64_t>(now);
  }

 private:
  sem_t semaphore_;
};

}  // namespace heddle::lab
