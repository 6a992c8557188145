// What a thread says of an operation that waits, or that ends others' waits.
#pragma once

#include "objects.hpp"

extern "C" {
/// Calls `call(with)`, in a frame that tells when it is unwound (arch/x86_64_wait.S).
[[gnu::visibility("hidden")]] void heddle_wait_by(void (*call)(void*), void* with);
}

namespace heddle::trace {

/// The wait that the calling thread is in: what its end needs when the thread is cancelled.
struct CurrentWait {
  Object* object;
  const void* mutex;  ///< of a condition: it has been taken again by then
  Caller caller;
};

[[gnu::visibility("hidden")]] extern __thread CurrentWait current_wait;

/// An operation that must wait: the records of its begin and end. Where a handler jumps away, the
/// end is not recorded, which is what the calls around it tell.
class [[nodiscard("ended() is to be called when the operation returns")]] Waiting {
 public:
  /// `more`: kTimed, kWrites, kShared. `beside`: the record's last word, which depends on the kind.
  /// Of what a thread has: the kernel's number of that thread by the word of libc or of the kernel,
  /// which know also of takers that the object does not know of; 0: they do not tell. Of a
  /// condition, the number of its mutex, which the thread must take again before its wait ends.
  Waiting(const void* at, ObjectKind kind, std::uint32_t more, const Caller& caller,
          std::uint64_t beside = 0);

  /// Waits by `real`, and gives its result. `mutex`: which a wait for a condition leaves and takes
  /// again. Where the thread is cancelled meanwhile, the wait ends with ECANCELED, before the
  /// program's cleanup handlers run, and this does not return. Not inlined: operations that need
  /// not wait would save more registers.
  template <typename Real>
  [[gnu::noinline]] auto by(Real real, const void* mutex = nullptr) {
    const CurrentWait outer = current_wait;  // a signal handler may wait within a wait
    current_wait = {object_, mutex, caller_};
    decltype(real()) result{};
    auto call = [&] { result = real(); };
    heddle_wait_by([](void* with) { (*static_cast<decltype(call)*>(with))(); }, &call);
    current_wait = outer;
    return result;
  }

  /// The operation has returned an error number, or 0. Errno is left alone. From then on there may
  /// be no object any more.
  void ended(int result);

  /// Null: there is no room for it, or recording is paused.
  [[nodiscard]] Object* object() const { return object_; }

 private:
  Object* object_;
  Caller caller_;
};

/// The calling thread is about to wake up whoever waits for the object. `more`: kAll. False: nobody
/// waits.
bool tell_wake(Object* object, const Caller& caller, std::uint32_t more = 0);

/// An operation on an object that has no holder, or whose holder need not be the one that lets go:
/// it got what it wanted, without waiting or after it.
void note_taken(Object* object, const Caller& caller);

}  // namespace heddle::trace
