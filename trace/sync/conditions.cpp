// Condition variables of POSIX and C11; std::condition_variable is one, in libstdc++.
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include "functions.hpp"
#include "mutexes.hpp"
#include "waits.hpp"

namespace heddle::trace {

namespace {

using Condition = pthread_cond_t;
using Wait = int(Condition*, pthread_mutex_t*);
using WaitUntil = int(Condition*, pthread_mutex_t*, const timespec*);
using WaitUntilOf = int(Condition*, pthread_mutex_t*, clockid_t, const timespec*);
using Wake = int(Condition*);
using Init = int(Condition*, const pthread_condattr_t*);
constinit Wait* real_wait = nullptr;
constinit WaitUntil* real_timed = nullptr;
constinit WaitUntilOf* real_clock = nullptr;
constinit Wake* real_signal = nullptr;
constinit Wake* real_broadcast = nullptr;
constinit Init* real_init = nullptr;

using WaitC = int(cnd_t*, mtx_t*);
using WaitUntilC = int(cnd_t*, mtx_t*, const timespec*);
using WakeC = int(cnd_t*);
constinit WaitC* real_wait_c = nullptr;
constinit WaitUntilC* real_timed_c = nullptr;
constinit WakeC* real_signal_c = nullptr;
constinit WakeC* real_broadcast_c = nullptr;
constinit WakeC* real_init_c = nullptr;

/// The function of this name, of the kind that has been in use since glibc 2.3.2: there is an older
/// one of the same name, of another layout.
template <typename Function>
Function* condition_function(Function*& kept, const char* name) {
  Function* found = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function*>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
  if (found == nullptr) return next(kept, name);
  __atomic_store_n(&kept, found, __ATOMIC_RELAXED);
  return found;
}

/// Whether threads of other processes may use it. The layout is part of glibc's interface: programs
/// are compiled with initialisers of it.
bool is_shared(const void* condition) {
  constexpr unsigned kOfProcesses = 1;
  const unsigned& word = static_cast<const Condition*>(condition)->__data.__wrefs;
  return (__atomic_load_n(&word, __ATOMIC_RELAXED) & kOfProcesses) != 0;
}

/// Waits by `real`, whose result `error` makes an error number. The mutex is free meanwhile.
template <typename Real>
int wait(const void* condition, const void* mutex, std::uint32_t more, const Caller& caller,
         int (*error)(int), Real real) {
  if (is_shared(condition)) more |= kShared;
  Waiting waiting(condition, ObjectKind::kCondition, more, caller, mutex_number(mutex, caller));
  mutex_let_go(mutex, caller);
  const int result = waiting.by(real, mutex);
  mutex_taken_again(mutex, caller);
  waiting.ended(error(result));
  if (error(result) == 0 && waiting.object() != nullptr) count(waiting.object()->taken);
  return result;
}

int same(int result) { return result; }

/// Wakes somebody up by `real`; `more`: kAll. Who waits in another process is not known here. A
/// thread that begins to wait during the call may be woken by it, where the caller does not have
/// the mutex: then it is not known that nobody waited.
template <typename Of>
int wake(Of* condition, std::uint32_t more, const Caller& caller, int (*real)(Of*)) {
  Object* const object = object_at(condition, ObjectKind::kCondition, caller);
  if (object == nullptr) return real(condition);
  count(object->given);
  const std::uint64_t waits = load_word(object->blocked);
  const bool alone = !tell_wake(object, caller, more) && !is_shared(condition);
  const int result = real(condition);
  // A handler may have forked, and this be the child, which has not got its parent's objects.
  if (alone && number_of(object) != 0 && load_word(object->blocked) == waits) count(object->unmet);
  return result;
}

}  // namespace

void find_conditions() {
  (void)condition_function(real_wait, "pthread_cond_wait");
  (void)condition_function(real_timed, "pthread_cond_timedwait");
  (void)next(real_clock, "pthread_cond_clockwait");
  (void)condition_function(real_signal, "pthread_cond_signal");
  (void)condition_function(real_broadcast, "pthread_cond_broadcast");
  (void)condition_function(real_init, "pthread_cond_init");
  (void)next(real_wait_c, "cnd_wait");
  (void)next(real_timed_c, "cnd_timedwait");
  (void)next(real_signal_c, "cnd_signal");
  (void)next(real_broadcast_c, "cnd_broadcast");
  (void)next(real_init_c, "cnd_init");
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

[[gnu::visibility("default")]] int pthread_cond_init(
    pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  const int result = condition_function(real_init, "pthread_cond_init")(condition, attributes);
  if (result == 0) object_made(condition, ObjectKind::kCondition, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int pthread_cond_wait(pthread_cond_t* condition,
                                                     pthread_mutex_t* mutex) {
  auto* const real = condition_function(real_wait, "pthread_cond_wait");
  return wait(condition, mutex, 0, HEDDLE_CALLER, same, [=] { return real(condition, mutex); });
}

[[gnu::visibility("default")]] int pthread_cond_timedwait(pthread_cond_t* condition,
                                                          pthread_mutex_t* mutex,
                                                          const timespec* until) {
  auto* const real = condition_function(real_timed, "pthread_cond_timedwait");
  return wait(condition, mutex, kTimed, HEDDLE_CALLER, same,
              [=] { return real(condition, mutex, until); });
}

[[gnu::visibility("default")]] int pthread_cond_clockwait(pthread_cond_t* condition,
                                                          pthread_mutex_t* mutex, clockid_t clock,
                                                          const timespec* until) {
  auto* const real = next(real_clock, "pthread_cond_clockwait");
  return wait(condition, mutex, kTimed, HEDDLE_CALLER, same,
              [=] { return real(condition, mutex, clock, until); });
}

[[gnu::visibility("default")]] int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  auto* const real = condition_function(real_signal, "pthread_cond_signal");
  return wake(condition, 0, HEDDLE_CALLER, real);
}

[[gnu::visibility("default")]] int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  auto* const real = condition_function(real_broadcast, "pthread_cond_broadcast");
  return wake(condition, kAll, HEDDLE_CALLER, real);
}

[[gnu::visibility("default")]] int cnd_init(cnd_t* condition) {
  const int result = next(real_init_c, "cnd_init")(condition);
  if (result == thrd_success) object_made(condition, ObjectKind::kCondition, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  auto* const real = next(real_wait_c, "cnd_wait");
  return wait(condition, mutex, 0, HEDDLE_CALLER, error_of, [=] { return real(condition, mutex); });
}

[[gnu::visibility("default")]] int cnd_timedwait(cnd_t* condition, mtx_t* mutex,
                                                 const timespec* until) {
  auto* const real = next(real_timed_c, "cnd_timedwait");
  return wait(condition, mutex, kTimed, HEDDLE_CALLER, error_of,
              [=] { return real(condition, mutex, until); });
}

[[gnu::visibility("default")]] int cnd_signal(cnd_t* condition) {
  return wake(condition, 0, HEDDLE_CALLER, next(real_signal_c, "cnd_signal"));
}

[[gnu::visibility("default")]] int cnd_broadcast(cnd_t* condition) {
  return wake(condition, kAll, HEDDLE_CALLER, next(real_broadcast_c, "cnd_broadcast"));
}
}
