// A mutex of one word that needs no libc. Only taken with signals blocked, so no handler can find
// its own thread holding it; it lives in memory that fork wipes, so a child finds it free.
#pragma once

#include <linux/futex.h>

#include "sys.hpp"

namespace heddle::trace {

struct Lock {
  std::uint32_t word;  ///< 0 free, 1 held, 2 held and waited for

  void acquire() {
    std::uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&word, &expected, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return;
    }
    while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0) {
      arch::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
    }
  }

  void release() {
    if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2) {
      arch::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }
};

class [[nodiscard("unlocks at once")]] Locked {
 public:
  explicit Locked(Lock & lock) : lock_(lock) { lock_.acquire(); }
  ~Locked() { lock_.release(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace heddle::trace
