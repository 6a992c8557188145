#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace heddle::lab {

/// Says whose turn it is; one for each strand, on a cache line of its own: the least that two flows
/// of control of the kernel need to take turns. `scope` is FUTEX_PRIVATE_FLAG for the threads of
/// one process, 0 for processes, which share the memory.
///
/// A hand-over is two system calls, the wake of one and the wait of the other; none where the wait
/// comes after the wake.
template <int scope>
class alignas(64) baton {
 public:
  /// Waits until it has been given, and takes it. False if the kernel refuses.
  bool take() {
    while (given_.exchange(0, std::memory_order_acquire) == 0) {
      if (call(FUTEX_WAIT, 0) != 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    return true;
  }
  bool give() {
    given_.store(1, std::memory_order_release);
    return call(FUTEX_WAKE, 1) >= 0;
  }

 private:
  // Value: of a wait, what the word must still be; of a wake, how many to wake.
  long call(int operation, std::uint32_t value) {
    return syscall(SYS_futex, &given_, operation | scope, value, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> given_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
};

}  // namespace heddle::lab
