#include "waits.hpp"

#include <errno.h>
#include <pthread.h>

#include "../frame_memory.hpp"
#include "../this_thread.hpp"

namespace heddle::trace {

Waiting::Waiting(const void* at, ObjectKind kind, std::uint32_t more, const Caller& caller,
                 std::uint64_t beside)
    : object_(object_at(at, kind, caller)) {
  std::uint64_t words[kWaitWords] = {
      first_word(kWait, kWaitWords, static_cast<std::uint64_t>(kind) | more),
      0,
      reinterpret_cast<std::uint64_t>(at),
      caller.site,
      kind == ObjectKind::kThread ? beside : 0,
      0,
      0,
      number_of(object_),
      beside};
  if (object_ != nullptr) {
    count(object_->blocked);
    __atomic_fetch_add(&object_->waiting, 1, __ATOMIC_RELAXED);
    if (kind != ObjectKind::kThread) words[4] = load_word(object_->holder);
    if (kind == ObjectKind::kMutex || kind == ObjectKind::kRwLock ||
        kind == ObjectKind::kSpinLock) {
      words[5] = load_word(object_->given);
      words[6] = load_word(object_->unmet);
      words[7] |= std::uint64_t{__atomic_load_n(&object_->fifth, __ATOMIC_RELAXED)} << 32;
    }
  }
  with_this_thread([&words](Process& process, Thread& thread) {
    return append_all(process, thread, words, kWaitWords);
  });
}

void Waiting::ended(int result) {
  // A handler may have forked, and this be the child, which has not got its parent's objects.
  if (number_of(object_) == 0) object_ = nullptr;
  // The latest holder is the one that has let go.
  std::uint64_t last = 0;
  if (object_ != nullptr) {
    last = load_word(object_->holder);
    __atomic_fetch_sub(&object_->waiting, 1, __ATOMIC_RELAXED);
    // It was no wait after all.
    if (result == EDEADLK || result == EAGAIN || result == EINVAL ||
        result == PTHREAD_BARRIER_SERIAL_THREAD) {
      __atomic_fetch_sub(&object_->blocked, 1, __ATOMIC_RELAXED);
    }
  }
  heddle_append(first_word(kWaitEnded, 3, static_cast<std::uint32_t>(result)), last);
}

bool tell_wake(Object* object, const Caller& caller, std::uint32_t more) {
  if (object == nullptr || __atomic_load_n(&object->waiting, __ATOMIC_RELAXED) == 0) return false;
  const std::uint64_t kind = load_word(object->about) & 0xff;
  const std::uint64_t number = std::uint64_t{number_of(object)} << kNumberShift;
  heddle_append(first_word(kWake, 3, kind | more | number), caller.site);
  return true;
}

void note_taken(Object* object, const Caller& caller) {
  if (object == nullptr) return;
  store_word(object->holder, own_thread() | low_site(caller) << 32);
  count(object->taken);
}

}  // namespace heddle::trace
