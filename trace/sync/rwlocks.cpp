// Locks that several readers may have at a time, or one writer; std::shared_mutex is one.
#include <pthread.h>

#include "functions.hpp"
#include "waits.hpp"

namespace heddle::trace {

namespace {

using RwLock = pthread_rwlock_t;
using Operation = int(RwLock*);
using Until = int(RwLock*, const timespec*);
using UntilOf = int(RwLock*, clockid_t, const timespec*);
using Init = int(RwLock*, const pthread_rwlockattr_t*);

constinit Operation* real_unlock = nullptr;
constinit Init* real_init = nullptr;

/// The functions that read, or those that write.
struct Side {
  std::uint32_t more;  ///< of the record of a wait
  const char *lock_name, *try_name, *timed_name, *clock_name;
  Operation *lock, *try_lock;
  Until* timed;
  UntilOf* clock;
};
constinit Side reading{0,
                       "pthread_rwlock_rdlock",
                       "pthread_rwlock_tryrdlock",
                       "pthread_rwlock_timedrdlock",
                       "pthread_rwlock_clockrdlock",
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};
constinit Side writing{kWrites,
                       "pthread_rwlock_wrlock",
                       "pthread_rwlock_trywrlock",
                       "pthread_rwlock_timedwrlock",
                       "pthread_rwlock_clockwrlock",
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

void find(Side& side) {
  (void)next(side.lock, side.lock_name);
  (void)next(side.try_lock, side.try_name);
  (void)next(side.timed, side.timed_name);
  (void)next(side.clock, side.clock_name);
}

/// Of readers the latest is known.
void taken(RwLock* lock, const Caller& caller) {
  Object* const object = object_at(lock, ObjectKind::kRwLock, caller);
  if (object == nullptr) return;
  now_holds(*object, own_thread(), caller);
  count(object->taken);
}

/// By `real`, if trying shows that another thread has it.
template <typename Real>
int take(Side& side, RwLock* lock, std::uint32_t more, const Caller& caller, Real real) {
  const int tried = next(side.try_lock, side.try_name)(lock);
  if (tried != EBUSY && tried != 0) {
    const int result = real();
    if (result == 0) taken(lock, caller);
    return result;
  }
  int result = tried;
  if (tried == EBUSY) {
    Waiting waiting(lock, ObjectKind::kRwLock, side.more | more, caller);
    result = real();
    waiting.ended(result);
  }
  if (result == 0) taken(lock, caller);
  return result;
}

int take(Side& side, RwLock* lock, const Caller& caller) {
  auto* const real = next(side.lock, side.lock_name);
  return take(side, lock, 0, caller, [=] { return real(lock); });
}

int try_to_take(Side& side, RwLock* lock, const Caller& caller) {
  const int tried = next(side.try_lock, side.try_name)(lock);
  if (tried == 0) taken(lock, caller);
  return tried;
}

// A wrong time or clock is an error even if the lock is free.

int take_until(Side& side, RwLock* lock, const timespec* until, const Caller& caller) {
  auto* const real = next(side.timed, side.timed_name);
  if (!is_time(*until)) return real(lock, until);
  return take(side, lock, kTimed, caller, [=] { return real(lock, until); });
}

int take_until(Side& side, RwLock* lock, clockid_t clock, const timespec* until,
               const Caller& caller) {
  auto* const real = next(side.clock, side.clock_name);
  if (!is_usual(clock) || !is_time(*until)) return real(lock, clock, until);
  return take(side, lock, kTimed, caller, [=] { return real(lock, clock, until); });
}

}  // namespace

void find_rwlocks() {
  find(reading);
  find(writing);
  (void)next(real_unlock, "pthread_rwlock_unlock");
  (void)next(real_init, "pthread_rwlock_init");
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

[[gnu::visibility("default")]] int pthread_rwlock_init(
    pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept {
  const int result = next(real_init, "pthread_rwlock_init")(lock, attributes);
  if (result == 0) object_made(lock, ObjectKind::kRwLock, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return take(reading, lock, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return take(writing, lock, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return try_to_take(reading, lock, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return try_to_take(writing, lock, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                                              const timespec* until) noexcept {
  return take_until(reading, lock, until, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                                              const timespec* until) noexcept {
  return take_until(writing, lock, until, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock,
                                                              clockid_t clock,
                                                              const timespec* until) noexcept {
  return take_until(reading, lock, clock, until, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock,
                                                              clockid_t clock,
                                                              const timespec* until) noexcept {
  return take_until(writing, lock, clock, until, HEDDLE_CALLER);
}

[[gnu::visibility("default")]] int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (Object* const object = known_object(lock, ObjectKind::kRwLock); object != nullptr) {
    if (holds(*object, own_thread())) lets_go(*object);
    (void)tell_wake(object, HEDDLE_CALLER);
  }
  return next(real_unlock, "pthread_rwlock_unlock")(lock);
}
}
