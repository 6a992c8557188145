// Waits for futexes that a program makes by syscall(2): std::atomic::wait and what is built on it,
// std::counting_semaphore, std::latch, Rust's locks; and locks of the kernel's that inherit
// priorities, whose word has the number of the thread that has them.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "../load.hpp"
#include "functions.hpp"
#include "waits.hpp"

using SystemCall = long(long, ...);
extern "C" {
[[gnu::visibility("hidden")]] extern SystemCall* heddle_real_syscall;
[[gnu::visibility("hidden")]] extern SystemCall* heddle_syscall_behind;
constinit SystemCall* heddle_syscall_behind = nullptr;
/// Goes on in heddle_futex for futex(2), in heddle_futex_waitv, or behind (arch/x86_64_futex.S).
[[gnu::visibility("hidden")]] long heddle_syscall_or_futex(long number, ...);
}

namespace heddle::trace {

void find_futex() {
  // The recorder's own syscall, which looks out for seccomp, asks this for everything else.
  SystemCall* behind = nullptr;
  heddle_syscall_behind = next(behind, "syscall");
  __atomic_store_n(&heddle_real_syscall, &heddle_syscall_or_futex, __ATOMIC_RELEASE);
}

namespace {

/// A call of futex(2).
struct Futex {
  const void* word;
  long operation, value, timeout, other, mask;

  [[nodiscard]] int command() const { return static_cast<int>(operation) & FUTEX_CMD_MASK; }

  /// Of a wait's record.
  [[nodiscard]] std::uint32_t more() const {
    const std::uint32_t timed = timeout != 0 ? kTimed : 0;
    return timed | ((operation & FUTEX_PRIVATE_FLAG) != 0 ? 0 : kShared);
  }

  [[nodiscard]] long call() const {
    return heddle_syscall_behind(SYS_futex, word, operation, value, timeout, other, mask);
  }
};

/// Somebody who waits for a word may be woken.
void give(const void* word, const Caller& caller) {
  Object* const object = known_object(word, ObjectKind::kFutex);
  if (object == nullptr) return;
  count(object->given);
  (void)tell_wake(object, caller);
}

/// What waits; the word counts as taken if that succeeds.
template <typename Call>
long wait(const void* word, std::uint32_t more, const Caller& caller, Call call) {
  Waiting waiting(word, ObjectKind::kFutex, more, caller);
  const long result = waiting.by(call);
  waiting.ended(result >= 0 ? 0 : errno);
  if (result >= 0 && waiting.object() != nullptr) count(waiting.object()->taken);
  return result;
}

void locked(const void* word, const Caller& caller) {
  note_taken(object_at(word, ObjectKind::kFutex, caller), caller);
}

/// Takes a lock of the kernel's. The word is looked at only after trying has shown that it is
/// there.
long lock(const Futex& futex, const Caller& caller) {
  const int kept = errno;
  const long flags = futex.operation & FUTEX_PRIVATE_FLAG;
  long result = heddle_syscall_behind(SYS_futex, futex.word, FUTEX_TRYLOCK_PI | flags, 0, 0, 0, 0);
  if (result != 0) {
    const bool must_wait = errno == EWOULDBLOCK;
    errno = kept;
    if (must_wait) {
      const auto* const word = static_cast<const std::uint32_t*>(futex.word);
      const std::uint32_t holder = __atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
      Waiting waiting(futex.word, ObjectKind::kFutex, futex.more(), caller, holder);
      result = waiting.by([&] { return futex.call(); });
      waiting.ended(result == 0 ? 0 : errno);
    } else {
      result = futex.call();
    }
  }
  if (result == 0) locked(futex.word, caller);
  return result;
}

void unlock(const void* word, const Caller& caller) {
  Object* const object = known_object(word, ObjectKind::kFutex);
  if (object != nullptr && holds(*object, own_thread())) lets_go(*object);
  give(word, caller);
}

/// The first word of those that a call waits for; null: there is none that can be read.
const void* first_word_of(const void* waiters, long count) {
  if (count <= 0 || loaded.barred || loaded.blind) return nullptr;
  futex_waitv first = {};
  const iovec here{&first, sizeof first};
  const iovec there{const_cast<void*>(waiters), sizeof first};
  const long bytes = arch::syscall(SYS_process_vm_readv, sys::pid(), &here, 1, &there, 1, 0);
  if (bytes != sizeof first) return nullptr;
  return reinterpret_cast<const void*>(first.uaddr);
}

}  // namespace

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

/// futex(2), for the operations that wait and that wake.
[[gnu::visibility("hidden")]] long heddle_futex(long, const void* word, long operation, long value,
                                                long timeout, long other, long mask) {
  const Caller caller = HEDDLE_CALLER;
  const Futex futex{word, operation, value, timeout, other, mask};
  if (loaded.barred) return futex.call();
  const auto* const second = reinterpret_cast<const void*>(other);
  switch (futex.command()) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return wait(word, futex.more(), caller, [&] { return futex.call(); });
    case FUTEX_WAIT_REQUEUE_PI: {
      const long result = wait(word, futex.more(), caller, [&] { return futex.call(); });
      if (result == 0) locked(second, caller);
      return result;
    }
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
      return lock(futex, caller);
    case FUTEX_TRYLOCK_PI: {
      const long result = futex.call();
      if (result == 0) locked(word, caller);
      return result;
    }
    case FUTEX_UNLOCK_PI:
      unlock(word, caller);
      return futex.call();
    case FUTEX_WAKE_OP:
      give(second, caller);
      [[fallthrough]];
    default:  // FUTEX_WAKE, and those that move the other waiters to another word
      give(word, caller);
      return futex.call();
  }
}

/// futex_waitv(2). Of several words, the wait is for the first.
[[gnu::visibility("hidden")]] long heddle_futex_waitv(long, const void* waiters, long count,
                                                      long flags, long timeout, long clock) {
  const Caller caller = HEDDLE_CALLER;
  const auto call = [=] {
    return heddle_syscall_behind(SYS_futex_waitv, waiters, count, flags, timeout, clock);
  };
  const void* const word = first_word_of(waiters, count);
  if (word == nullptr) return call();
  return wait(word, timeout != 0 ? kTimed : 0, caller, call);
}
}
