// Semaphores. sem_post may be called by signal handlers.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "functions.hpp"
#include "waits.hpp"

namespace heddle::trace {

namespace {

using Operation = int(sem_t*);
using Until = int(sem_t*, const timespec*);
using UntilOf = int(sem_t*, clockid_t, const timespec*);
using Init = int(sem_t*, int, unsigned);
constinit Operation* real_wait = nullptr;
constinit Operation* real_try = nullptr;
constinit Operation* real_post = nullptr;
constinit Until* real_timed = nullptr;
constinit UntilOf* real_clock = nullptr;
constinit Init* real_init = nullptr;

Operation* try_function() { return next(real_try, "sem_trywait"); }

/// Of a wait's record: glibc has had it in the third word of a semaphore since 2.21, and
/// initialises that by sem_init and sem_open.
std::uint32_t shared(const sem_t* semaphore) {
  constexpr int kPlace = 2;
  const int* const words = reinterpret_cast<const int*>(semaphore);
  return __atomic_load_n(&words[kPlace], __ATOMIC_RELAXED) != 0 ? kShared : 0;
}

void taken(sem_t* semaphore, const Caller& caller) {
  note_taken(object_at(semaphore, ObjectKind::kSemaphore, caller), caller);
}

/// By `real`, if trying shows that there is nothing to take.
template <typename Real>
int take(sem_t* semaphore, std::uint32_t more, const Caller& caller, Real real) {
  // The real one is a cancellation point also if it need not wait.
  pthread_testcancel();
  const int kept = errno;
  int result = try_function()(semaphore);
  if (result != 0) {
    const bool must_wait = errno == EAGAIN;
    errno = kept;
    if (!must_wait) return real();
    Waiting waiting(semaphore, ObjectKind::kSemaphore, more | shared(semaphore), caller);
    result = waiting.by(real);
    waiting.ended(result == 0 ? 0 : errno);
  }
  if (result == 0) taken(semaphore, caller);
  return result;
}

}  // namespace

void find_semaphores() {
  (void)next(real_wait, "sem_wait");
  (void)try_function();
  (void)next(real_post, "sem_post");
  (void)next(real_timed, "sem_timedwait");
  (void)next(real_clock, "sem_clockwait");
  (void)next(real_init, "sem_init");
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

[[gnu::visibility("default")]] int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  const int result = next(real_init, "sem_init")(semaphore, shared, value);
  if (result == 0) object_made(semaphore, ObjectKind::kSemaphore, HEDDLE_CALLER);
  return result;
}

[[gnu::visibility("default")]] int sem_wait(sem_t* semaphore) {
  auto* const real = next(real_wait, "sem_wait");
  return take(semaphore, 0, HEDDLE_CALLER, [=] { return real(semaphore); });
}

[[gnu::visibility("default")]] int sem_trywait(sem_t* semaphore) noexcept {
  const int result = try_function()(semaphore);
  if (result == 0) taken(semaphore, HEDDLE_CALLER);
  return result;
}

// A wrong time or clock is an error even if there is something to take.

[[gnu::visibility("default")]] int sem_timedwait(sem_t* semaphore, const timespec* until) {
  auto* const real = next(real_timed, "sem_timedwait");
  if (!is_time(*until)) return real(semaphore, until);
  return take(semaphore, kTimed, HEDDLE_CALLER, [=] { return real(semaphore, until); });
}

[[gnu::visibility("default")]] int sem_clockwait(sem_t* semaphore, clockid_t clock,
                                                 const timespec* until) {
  auto* const real = next(real_clock, "sem_clockwait");
  if (!is_usual(clock) || !is_time(*until)) return real(semaphore, clock, until);
  return take(semaphore, kTimed, HEDDLE_CALLER, [=] { return real(semaphore, clock, until); });
}

[[gnu::visibility("default")]] int sem_post(sem_t* semaphore) noexcept {
  const Caller caller = HEDDLE_CALLER;
  Object* const object = object_at(semaphore, ObjectKind::kSemaphore, caller);
  if (object != nullptr) {
    count(object->given);
    // A semaphore whose every V is by the thread that has taken it is used as a lock. Of a lock
    // this is the only thread here, so that nothing atomic is needed; of others one too few says
    // the same.
    if (holds(*object, own_thread())) {
      store_word(object->unmet, load_word(object->unmet) + 1);
      lets_go(*object);
    }
    (void)tell_wake(object, caller);
  }
  return next(real_post, "sem_post")(semaphore);
}
}
