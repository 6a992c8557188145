// Waits for futexes that a program makes by syscall(2): std::atomic::wait and what is built on it,
// std::counting_semaphore, std::latch, Rust's locks.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "functions.hpp"
#include "waits.hpp"

using SystemCall = long(long, ...);
extern "C" {
[[gnu::visibility("hidden")]] extern SystemCall* heddle_real_syscall;
[[gnu::visibility("hidden")]] extern SystemCall* heddle_syscall_behind;
constinit SystemCall* heddle_syscall_behind = nullptr;
/// Goes on in heddle_futex for some calls of futex(2), and behind (arch/x86_64_futex.S).
[[gnu::visibility("hidden")]] long heddle_syscall_or_futex(long number, ...);
}

namespace heddle::trace {

void find_futex() {
  // The recorder's own syscall, which looks out for seccomp, asks this for everything else.
  SystemCall* behind = nullptr;
  heddle_syscall_behind = next(behind, "syscall");
  __atomic_store_n(&heddle_real_syscall, &heddle_syscall_or_futex, __ATOMIC_RELEASE);
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

/// futex(2), for the operations that wait and that wake.
[[gnu::visibility("hidden")]] long heddle_futex(long, const void* word, long operation, long value,
                                                long timeout, long other, long mask) {
  const Caller caller = HEDDLE_CALLER;
  const auto call = [=] {
    return heddle_syscall_behind(SYS_futex, word, operation, value, timeout, other, mask);
  };
  const int command = static_cast<int>(operation) & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    if (Object* const object = known_object(word, ObjectKind::kFutex); object != nullptr) {
      count(object->given);
      (void)tell_wake(object, caller);
    }
    return call();
  }
  Waiting waiting(word, ObjectKind::kFutex, timeout != 0 ? kTimed : 0, caller);
  const long result = call();
  waiting.ended(result == 0 ? 0 : errno);
  if (result == 0 && waiting.object() != nullptr) count(waiting.object()->taken);
  return result;
}
}
