#include "waits.hpp"

#include <errno.h>
#include <pthread.h>
#include <unwind.h>

#include "../frame_memory.hpp"
#include "../this_thread.hpp"
#include "mutexes.hpp"

namespace heddle::trace {

constinit __thread CurrentWait current_wait{};

namespace {

void append(const std::uint64_t* words, std::uint64_t count) {
  with_this_thread(
      [=](Process& process, Thread& thread) { return append_all(process, thread, words, count); });
}

/// The wait for an object ends: with an error number, or 0.
void end_wait(Object* object, int result) {
  // The latest holder is the one that has let go.
  std::uint64_t last = 0;
  if (object != nullptr) {
    last = load_word(object->holder);
    __atomic_fetch_sub(&object->waiting, 1, __ATOMIC_RELAXED);
    // It was no wait after all.
    if (result == EDEADLK || result == EAGAIN || result == EINVAL ||
        result == PTHREAD_BARRIER_SERIAL_THREAD) {
      __atomic_fetch_sub(&object->blocked, 1, __ATOMIC_RELAXED);
    }
  }
  heddle_append(first_word(kWaitEnded, 3, static_cast<std::uint32_t>(result)), last);
}

}  // namespace

Waiting::Waiting(const void* at, ObjectKind kind, std::uint32_t more, const Caller& caller,
                 std::uint64_t beside)
    : object_(object_at(at, kind, caller)), caller_(caller) {
  std::uint64_t words[kWaitWords] = {
      first_word(kWait, kWaitWords, static_cast<std::uint64_t>(kind) | more),
      0,
      reinterpret_cast<std::uint64_t>(at),
      caller.site,
      kind == ObjectKind::kThread ? beside : 0,
      0,
      0,
      number_of(object_),
      beside,
      stack_of(caller)};
  if (object_ != nullptr) {
    // In this order: who wakes others up and sees no waiter has not seen its wait counted either.
    __atomic_fetch_add(&object_->waiting, 1, __ATOMIC_RELAXED);
    count(object_->blocked);
    if (kind != ObjectKind::kThread) words[4] = load_word(object_->holder);
    if (kind == ObjectKind::kMutex || kind == ObjectKind::kRwLock ||
        kind == ObjectKind::kSpinLock) {
      words[5] = load_word(object_->given);
      words[6] = load_word(object_->unmet);
      words[7] |= std::uint64_t{__atomic_load_n(&object_->fifth, __ATOMIC_RELAXED)} << 32;
    }
  }
  append(words, kWaitWords);
}

void Waiting::ended(int result) {
  // A handler may have forked, and this be the child, which has not got its parent's objects.
  if (number_of(object_) == 0) object_ = nullptr;
  end_wait(object_, result);
}

bool tell_wake(Object* object, const Caller& caller, std::uint32_t more) {
  if (object == nullptr || __atomic_load_n(&object->waiting, __ATOMIC_RELAXED) == 0) return false;
  const std::uint64_t kind = load_word(object->about) & 0xff;
  const std::uint64_t number = std::uint64_t{number_of(object)} << kNumberShift;
  const std::uint64_t first = first_word(kWake, kWakeWords, kind | more | number);
  const std::uint64_t words[kWakeWords] = {first, 0, caller.site, stack_of(caller)};
  append(words, kWakeWords);
  return true;
}

void note_taken(Object* object, const Caller& caller) {
  if (object == nullptr) return;
  store_word(object->holder, own_thread() | low_site(caller) << 32);
  count(object->taken);
}

}  // namespace heddle::trace

/// The personality of heddle_wait_by's frame. Unwinding by force is how libc cancels a thread; an
/// exception passes if what is done once, by who waited for another to do it, has thrown. The frame
/// has nothing else to clean up, so the unwinder goes on. What libc cleans up, as taking a
/// condition's mutex again, is done.
extern "C" [[gnu::visibility("hidden")]] _Unwind_Reason_Code heddle_wait_unwound(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context*) {
  using namespace heddle::trace;
  if ((actions & _UA_CLEANUP_PHASE) == 0) return _URC_CONTINUE_UNWIND;
  const CurrentWait wait = current_wait;
  current_wait = {};
  if (wait.mutex != nullptr) mutex_taken_again(wait.mutex, wait.caller);
  Object* const object = number_of(wait.object) != 0 ? wait.object : nullptr;
  end_wait(object, (actions & _UA_FORCE_UNWIND) != 0 ? ECANCELED : 0);
  return _URC_CONTINUE_UNWIND;
}
