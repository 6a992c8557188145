// Barriers, spin locks, things done once, and the ends of threads.
#include <pthread.h>
#include <threads.h>

#include "functions.hpp"
#include "waits.hpp"

namespace heddle::trace {

namespace {

using WaitBarrier = int(pthread_barrier_t*);
using InitBarrier = int(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned);
constinit WaitBarrier* real_wait_barrier = nullptr;
constinit InitBarrier* real_init_barrier = nullptr;

using Spin = int(pthread_spinlock_t*);
using InitSpin = int(pthread_spinlock_t*, int);
constinit Spin* real_lock_spin = nullptr;
constinit Spin* real_try_spin = nullptr;
constinit Spin* real_unlock_spin = nullptr;
constinit InitSpin* real_init_spin = nullptr;

using Routine = void();
using Once = int(pthread_once_t*, Routine*);
using OnceC = void(once_flag*, Routine*);
constinit Once* real_once = nullptr;
constinit OnceC* real_once_c = nullptr;

using Join = int(pthread_t, void**);
using JoinUntil = int(pthread_t, void**, const timespec*);
using JoinUntilOf = int(pthread_t, void**, clockid_t, const timespec*);
using JoinC = int(thrd_t, int*);
constinit Join* real_join = nullptr;
constinit Join* real_try_join = nullptr;
constinit JoinUntil* real_timed_join = nullptr;
constinit JoinUntilOf* real_clock_join = nullptr;
constinit JoinC* real_join_c = nullptr;

Spin* try_spin() { return next(real_try_spin, "pthread_spin_trylock"); }
Join* try_join() { return next(real_try_join, "pthread_tryjoin_np"); }

const void* at(const volatile void* object) { return const_cast<const void*>(object); }

void spin_taken(pthread_spinlock_t* lock, const Caller& caller) {
  Object* const object = object_at(at(lock), ObjectKind::kSpinLock, caller);
  if (object == nullptr) return;
  now_holds(*object, own_thread(), caller);
  arch::increment(&object->taken);  // whoever has the lock is alone here
}

/// Bits of glibc's pthread_once_t, of which other libraries know, too.
constexpr int kInProgress = 1, kDone = 2;

/// Has something done by `real`, if that is not done yet.
template <typename Real>
void once(const int* flag, const Caller& caller, Real real) {
  const int state = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
  if ((state & kDone) != 0) return real();
  if ((state & kInProgress) != 0) {
    Waiting waiting(flag, ObjectKind::kOnce, 0, caller);
    (void)waiting.by([&] { return real(), 0; });
    waiting.ended(0);
    if (waiting.object() != nullptr) count(waiting.object()->taken);
    return;
  }
  note_taken(object_at(flag, ObjectKind::kOnce, caller), caller);
  real();
  // It may have forked, and this be the child, which has not got its parent's objects.
  Object* const object = known_object(flag, ObjectKind::kOnce);
  if (object == nullptr) return;
  if (holds(*object, own_thread())) lets_go(*object);
  (void)tell_wake(object, caller);
}

/// The kernel's number of a thread; 0 if it has ended.
std::uint32_t thread_of(pthread_t thread) {
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return ~static_cast<std::uint32_t>(clock >> 3);  // a number of the kernel's interface
}

const void* place_of(pthread_t thread) { return reinterpret_cast<const void*>(thread); }

void joined(Object* object) {
  if (object != nullptr) count(object->taken);
}

/// Waits for the end of a thread, by `real` if it has not ended yet.
template <typename Real>
int join(pthread_t thread, void** value, std::uint32_t more, const Caller& caller, Real real) {
  int result = try_join()(thread, value);
  if (result == 0) {
    joined(object_at(place_of(thread), ObjectKind::kThread, caller));
    return 0;
  }
  if (result != EBUSY) return real();
  Waiting waiting(place_of(thread), ObjectKind::kThread, more, caller, thread_of(thread));
  result = waiting.by(real);
  waiting.ended(result);
  if (result == 0) joined(waiting.object());
  return result;
}

}  // namespace

void find_others() {
  (void)next(real_wait_barrier, "pthread_barrier_wait");
  (void)next(real_init_barrier, "pthread_barrier_init");
  (void)next(real_lock_spin, "pthread_spin_lock");
  (void)try_spin();
  (void)next(real_unlock_spin, "pthread_spin_unlock");
  (void)next(real_init_spin, "pthread_spin_init");
  (void)next(real_once, "pthread_once");
  (void)next(real_once_c, "call_once");
  (void)next(real_join, "pthread_join");
  (void)try_join();
  (void)next(real_timed_join, "pthread_timedjoin_np");
  (void)next(real_clock_join, "pthread_clockjoin_np");
  (void)next(real_join_c, "thrd_join");
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

[[gnu::visibility("default")]] int pthread_barrier_init(pthread_barrier_t* barrier,
                                                        const pthread_barrierattr_t* attributes,
                                                        unsigned threads) noexcept {
  const int result = next(real_init_barrier, "pthread_barrier_init")(barrier, attributes, threads);
  if (result == 0) object_made(barrier, ObjectKind::kBarrier, HEDDLE_CALLER);
  return result;
}

/// The last one to come is told so by its result; it has not waited.
[[gnu::visibility("default")]] int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const Caller caller = HEDDLE_CALLER;
  Waiting waiting(barrier, ObjectKind::kBarrier, 0, caller);
  auto* const real = next(real_wait_barrier, "pthread_barrier_wait");
  const int result = waiting.by([=] { return real(barrier); });
  waiting.ended(result);
  const bool passed = result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD;
  if (passed && waiting.object() != nullptr) count(waiting.object()->taken);
  return result;
}

[[gnu::visibility("default")]] int pthread_spin_init(pthread_spinlock_t* lock,
                                                     int shared) noexcept {
  const int result = next(real_init_spin, "pthread_spin_init")(lock, shared);
  if (result == 0) object_made(at(lock), ObjectKind::kSpinLock, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  const Caller caller = HEDDLE_CALLER;
  if (try_spin()(lock) != 0) {
    Waiting waiting(at(lock), ObjectKind::kSpinLock, 0, caller);
    auto* const real = next(real_lock_spin, "pthread_spin_lock");
    const int result = waiting.by([=] { return real(lock); });
    waiting.ended(result);
    if (result != 0) return result;
  }
  spin_taken(lock, caller);
  return 0;
}

[[gnu::visibility("default")]] int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  const int tried = try_spin()(lock);
  if (tried == 0) spin_taken(lock, HEDDLE_CALLER);
  return tried;
}

[[gnu::visibility("default")]] int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (Object* const object = known_object(at(lock), ObjectKind::kSpinLock); object != nullptr) {
    lets_go(*object);
    (void)tell_wake(object, HEDDLE_CALLER);
  }
  return next(real_unlock_spin, "pthread_spin_unlock")(lock);
}

[[gnu::visibility("default")]] int pthread_once(pthread_once_t* flag, void (*routine)()) {
  auto* const real = next(real_once, "pthread_once");
  int result = 0;
  once(flag, HEDDLE_CALLER, [&] { result = real(flag, routine); });
  return result;
}

[[gnu::visibility("default")]] void call_once(once_flag* flag, void (*routine)()) {
  auto* const real = next(real_once_c, "call_once");
  once(reinterpret_cast<const int*>(flag), HEDDLE_CALLER, [=] { real(flag, routine); });
}

// A thread that is still there is told so by trying, which waits for nothing and so is no
// cancellation point either; the real function of one that is gone is none.

[[gnu::visibility("default")]] int pthread_join(pthread_t thread, void** value) {
  auto* const real = next(real_join, "pthread_join");
  return join(thread, value, 0, HEDDLE_CALLER, [=] { return real(thread, value); });
}

[[gnu::visibility("default")]] int pthread_tryjoin_np(pthread_t thread, void** value) noexcept {
  const int tried = try_join()(thread, value);
  if (tried == 0) joined(object_at(place_of(thread), ObjectKind::kThread, HEDDLE_CALLER));
  return tried;
}

[[gnu::visibility("default")]] int pthread_timedjoin_np(pthread_t thread, void** value,
                                                        const timespec* until) {
  auto* const real = next(real_timed_join, "pthread_timedjoin_np");
  return join(thread, value, kTimed, HEDDLE_CALLER, [=] { return real(thread, value, until); });
}

[[gnu::visibility("default")]] int pthread_clockjoin_np(pthread_t thread, void** value,
                                                        clockid_t clock, const timespec* until) {
  auto* const real = next(real_clock_join, "pthread_clockjoin_np");
  return join(thread, value, kTimed, HEDDLE_CALLER,
              [=] { return real(thread, value, clock, until); });
}

[[gnu::visibility("default")]] int thrd_join(thrd_t thread, int* value) {
  auto* const real = next(real_join_c, "thrd_join");
  void* result = nullptr;
  int ended = thrd_error;
  const int error = join(thread, &result, 0, HEDDLE_CALLER, [&] {
    ended = real(thread, value);
    return error_of(ended);
  });
  if (error != 0) return ended;
  // Unless the real one has already said so.
  if (ended != thrd_success && value != nullptr) {
    *value = static_cast<int>(reinterpret_cast<std::intptr_t>(result));
  }
  return thrd_success;
}
}
