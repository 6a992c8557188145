// Mutexes of POSIX and C11, which are the same; std::mutex and its like are those of POSIX.
#include "mutexes.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <threads.h>

#include "functions.hpp"
#include "waits.hpp"

namespace heddle::trace {

namespace {

using Mutex = pthread_mutex_t;
using Operation = int(Mutex*);
using Until = int(Mutex*, const timespec*);
using UntilOf = int(Mutex*, clockid_t, const timespec*);
using Init = int(Mutex*, const pthread_mutexattr_t*);
constinit Operation* real_lock = nullptr;
constinit Operation* real_try = nullptr;
constinit Operation* real_unlock = nullptr;
constinit Until* real_timed = nullptr;
constinit UntilOf* real_clock = nullptr;
constinit Init* real_init = nullptr;

using OperationC = int(mtx_t*);
using UntilC = int(mtx_t*, const timespec*);
using InitC = int(mtx_t*, int);
constinit OperationC* real_lock_c = nullptr;
constinit OperationC* real_try_c = nullptr;
constinit OperationC* real_unlock_c = nullptr;
constinit UntilC* real_timed_c = nullptr;
constinit InitC* real_init_c = nullptr;

OperationC* try_function_c() { return next(real_try_c, "mtx_trylock"); }

constexpr int kTypes = 3, kRobust = 16, kInherits = 32, kProtects = 64, kOfProcesses = 128;

/// The kernel's number of the thread that has it; 0: nobody. The layout is part of glibc's
/// interface: programs are compiled with initialisers of it. Robust mutexes and those that inherit
/// priorities have it in the word that the kernel knows. The other word of a robust one is no
/// thread's number while its state is inconsistent, or when nobody can have it any more.
std::uint32_t owner(const Mutex& mutex) {
  if ((mutex.__data.__kind & (kRobust | kInherits)) == 0) {
    return static_cast<std::uint32_t>(mutex.__data.__owner);
  }
  const int word = __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED);
  return static_cast<std::uint32_t>(word) & FUTEX_TID_MASK;
}

bool is_nested(const Mutex& mutex) {
  return (mutex.__data.__kind & kTypes) == PTHREAD_MUTEX_RECURSIVE_NP && mutex.__data.__count > 1;
}

const Mutex* mutex_of(const mtx_t* mutex) { return reinterpret_cast<const Mutex*>(mutex); }

/// Trying a robust mutex that nobody can have any more leaves it locked (glibc 2.36), so these are
/// not tried, but looked at.
bool is_robust(const Mutex& mutex) { return (mutex.__data.__kind & kRobust) != 0; }

/// Nor are those with a priority of their own: the first call of a thread that may not have that
/// priority gives EINVAL, as it should, but the second does not (glibc 2.36).
bool protects(const Mutex& mutex) { return (mutex.__data.__kind & kProtects) != 0; }

bool is_busy(const Mutex& mutex) {
  const auto word =
      static_cast<std::uint32_t>(__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED));
  constexpr std::uint32_t kPriority = 0xfff8'0000;
  if (protects(mutex)) return (word & ~kPriority) != 0;
  return (word & FUTEX_TID_MASK) != 0 && (word & FUTEX_OWNER_DIED) == 0;
}

/// Of a wait's record.
std::uint32_t shared(const Mutex& mutex) {
  return (mutex.__data.__kind & kOfProcesses) != 0 ? kShared : 0;
}

/// What trying to lock it gives; of one that is not tried perhaps EINVAL, which says nothing.
int tried(Mutex* mutex) {
  if (is_robust(*mutex) || protects(*mutex)) return is_busy(*mutex) ? EBUSY : EINVAL;
  return next(real_try, "pthread_mutex_trylock")(mutex);
}

/// The calling thread has it.
void taken(const Mutex* mutex, const Caller& caller) {
  Object* const object = object_at(mutex, ObjectKind::kMutex, caller);
  if (object == nullptr) return;
  if (!is_nested(*mutex)) now_holds(*object, own_thread(), caller);
  arch::increment(&object->taken);  // whoever has the mutex is alone here
}

bool is_taken(int result) { return result == 0 || result == EOWNERDEAD; }
bool is_taken_c(int result) { return result == thrd_success; }

/// Locks it: by `real`, if trying has not.
template <typename Real>
int lock(Mutex* mutex, std::uint32_t more, int result, const Caller& caller, Real real) {
  if (result == EBUSY) {
    Waiting waiting(mutex, ObjectKind::kMutex, more | shared(*mutex), caller, owner(*mutex));
    result = waiting.by(real);
    waiting.ended(result);
  } else if (!is_taken(result)) {
    result = real();
  }
  if (is_taken(result)) taken(mutex, caller);
  return result;
}

/// Waits for a mutex that another thread has: by `real`.
template <typename Real>
int wait_c(mtx_t* mutex, std::uint32_t more, const Caller& caller, Real real) {
  Waiting waiting(mutex, ObjectKind::kMutex, more, caller, owner(*mutex_of(mutex)));
  const int result = waiting.by(real);
  waiting.ended(error_of(result));
  if (is_taken_c(result)) taken(mutex_of(mutex), caller);
  return result;
}

/// The calling thread is about to unlock it, if it may.
void leave(const Mutex* mutex, const Caller& caller) {
  Object* const object = known_object(mutex, ObjectKind::kMutex);
  if (object == nullptr || is_nested(*mutex)) return;
  const bool checked = (mutex->__data.__kind & kTypes) == PTHREAD_MUTEX_ERRORCHECK_NP ||
                       (mutex->__data.__kind & kTypes) == PTHREAD_MUTEX_RECURSIVE_NP;
  if (checked && owner(*mutex) != own_thread()) return;
  lets_go(*object);
  (void)tell_wake(object, caller);
}

}  // namespace

void find_mutexes() {
  (void)next(real_lock, "pthread_mutex_lock");
  (void)next(real_try, "pthread_mutex_trylock");
  (void)next(real_unlock, "pthread_mutex_unlock");
  (void)next(real_timed, "pthread_mutex_timedlock");
  (void)next(real_clock, "pthread_mutex_clocklock");
  (void)next(real_init, "pthread_mutex_init");
  (void)next(real_lock_c, "mtx_lock");
  (void)try_function_c();
  (void)next(real_unlock_c, "mtx_unlock");
  (void)next(real_timed_c, "mtx_timedlock");
  (void)next(real_init_c, "mtx_init");
}

std::uint32_t mutex_number(const void* mutex, const Caller& caller) {
  return number_of(object_at(mutex, ObjectKind::kMutex, caller));
}

void mutex_let_go(const void* mutex, const Caller& caller) {
  leave(static_cast<const Mutex*>(mutex), caller);
}

void mutex_taken_again(const void* mutex, const Caller& caller) {
  Object* const object = known_object(mutex, ObjectKind::kMutex);
  if (object != nullptr) now_holds(*object, own_thread(), caller);
}

}  // namespace heddle::trace

using namespace heddle::trace;

// Each operation is tried first, which has the same effect where it need not wait; whatever else
// trying gives, the real one is asked.
extern "C" {

[[gnu::visibility("default")]] int pthread_mutex_init(
    pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  const int result = next(real_init, "pthread_mutex_init")(mutex, attributes);
  if (result == 0) object_made(mutex, ObjectKind::kMutex, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const int result = tried(mutex);
  if (result == 0) [[likely]] {
    taken(mutex, HEDDLE_CALLER);
    return 0;
  }
  auto* const real = next(real_lock, "pthread_mutex_lock");
  return lock(mutex, 0, result, HEDDLE_CALLER, [=] { return real(mutex); });
}

[[gnu::visibility("default")]] int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const int result = next(real_try, "pthread_mutex_trylock")(mutex);
  if (is_taken(result)) taken(mutex, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                                           const timespec* until) noexcept {
  auto* const real = next(real_timed, "pthread_mutex_timedlock");
  return lock(mutex, kTimed, tried(mutex), HEDDLE_CALLER, [=] { return real(mutex, until); });
}

[[gnu::visibility("default")]] int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                           const timespec* until) noexcept {
  auto* const real = next(real_clock, "pthread_mutex_clocklock");
  // Another clock is an error even if the mutex is free.
  if (!is_usual(clock)) return real(mutex, clock, until);
  return lock(mutex, kTimed, tried(mutex), HEDDLE_CALLER,
              [=] { return real(mutex, clock, until); });
}

[[gnu::visibility("default")]] int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  leave(mutex, HEDDLE_CALLER);
  return next(real_unlock, "pthread_mutex_unlock")(mutex);
}

[[gnu::visibility("default")]] int mtx_init(mtx_t* mutex, int type) {
  const int result = next(real_init_c, "mtx_init")(mutex, type);
  if (result == thrd_success) object_made(mutex, ObjectKind::kMutex, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int mtx_lock(mtx_t* mutex) {
  const int tried = try_function_c()(mutex);
  if (is_taken_c(tried)) {
    taken(mutex_of(mutex), HEDDLE_CALLER);
    return tried;
  }
  auto* const real = next(real_lock_c, "mtx_lock");
  if (tried != thrd_busy) return real(mutex);
  return wait_c(mutex, 0, HEDDLE_CALLER, [=] { return real(mutex); });
}

[[gnu::visibility("default")]] int mtx_trylock(mtx_t* mutex) {
  const int tried = try_function_c()(mutex);
  if (is_taken_c(tried)) taken(mutex_of(mutex), HEDDLE_CALLER);
  return tried;
}

[[gnu::visibility("default")]] int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  const int tried = try_function_c()(mutex);
  if (is_taken_c(tried)) {
    taken(mutex_of(mutex), HEDDLE_CALLER);
    return tried;
  }
  auto* const real = next(real_timed_c, "mtx_timedlock");
  if (tried != thrd_busy) return real(mutex, until);
  return wait_c(mutex, kTimed, HEDDLE_CALLER, [=] { return real(mutex, until); });
}

[[gnu::visibility("default")]] int mtx_unlock(mtx_t* mutex) {
  leave(mutex_of(mutex), HEDDLE_CALLER);
  return next(real_unlock_c, "mtx_unlock")(mutex);
}
}
