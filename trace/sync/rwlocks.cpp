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

/// The kernel's number of the thread that writes; 0: nobody does. The layout is part of glibc's
/// interface: programs are compiled with initialisers of it.
std::uint32_t writer(const RwLock& lock) {
  return static_cast<std::uint32_t>(__atomic_load_n(&lock.__data.__cur_writer, __ATOMIC_RELAXED));
}

/// What `thread` adds to the sum of readers.
std::uint64_t in_sum(std::uint32_t thread) { return std::uint64_t{thread} << kReaderSumShift; }

/// Of readers, the latest is known with its site, the others by their number and their sum.
void taken(const Side& side, RwLock* lock, const Caller& caller) {
  Object* const object = object_at(lock, ObjectKind::kRwLock, caller);
  if (object == nullptr) return;
  const std::uint32_t thread = own_thread();
  now_holds(*object, thread, caller);
  if ((side.more & kWrites) != 0) return count(object->taken);
  __atomic_fetch_add(&object->blocked, in_sum(thread), __ATOMIC_RELAXED);
  __atomic_fetch_add(&object->taken, (std::uint64_t{1} << kReadersShift) + 1, __ATOMIC_RELAXED);
}

/// A reader lets go. It is not counted if nobody was seen reading: it came before a fork, or while
/// recording was paused. False: others have the lock still, so that nobody is woken.
bool reader_leaves(Object& object, std::uint32_t thread) {
  std::uint64_t taken = load_word(object.taken);
  do {
    if (taken >> kReadersShift == 0) return true;
  } while (!__atomic_compare_exchange_n(&object.taken, &taken,
                                        taken - (std::uint64_t{1} << kReadersShift), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  __atomic_fetch_sub(&object.blocked, in_sum(thread), __ATOMIC_RELAXED);
  return taken >> kReadersShift == 1;
}

/// Who has the lock, for the record of a wait: the writer, or the only reader; and how many readers
/// do, in the upper half.
std::uint64_t holders(const RwLock& lock) {
  if (const std::uint32_t thread = writer(lock); thread != 0) return thread;
  const Object* const object = known_object(&lock, ObjectKind::kRwLock);
  if (object == nullptr) return 0;
  const std::uint64_t readers = load_word(object->taken) >> kReadersShift;
  const std::uint64_t only = load_word(object->blocked) >> kReaderSumShift;
  return readers << 32 | (readers == 1 ? only : 0);
}

/// By `real`, if trying shows that another thread has it.
template <typename Real>
int take(Side& side, RwLock* lock, std::uint32_t more, const Caller& caller, Real real) {
  const int tried = next(side.try_lock, side.try_name)(lock);
  if (tried != EBUSY && tried != 0) {
    const int result = real();
    if (result == 0) taken(side, lock, caller);
    return result;
  }
  int result = tried;
  if (tried == EBUSY) {
    if (lock->__data.__shared != 0) more |= kShared;
    Waiting waiting(lock, ObjectKind::kRwLock, side.more | more, caller, holders(*lock));
    result = waiting.by(real);
    waiting.ended(result);
  }
  if (result == 0) taken(side, lock, caller);
  return result;
}

int take(Side& side, RwLock* lock, const Caller& caller) {
  auto* const real = next(side.lock, side.lock_name);
  return take(side, lock, 0, caller, [=] { return real(lock); });
}

int try_to_take(Side& side, RwLock* lock, const Caller& caller) {
  const int tried = next(side.try_lock, side.try_name)(lock);
  if (tried == 0) taken(side, lock, caller);
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
    const std::uint32_t thread = own_thread();
    if (holds(*object, thread)) lets_go(*object);
    const bool free = writer(*lock) == thread || reader_leaves(*object, thread);
    if (free) (void)tell_wake(object, HEDDLE_CALLER);
  }
  return next(real_unlock, "pthread_rwlock_unlock")(lock);
}
}
