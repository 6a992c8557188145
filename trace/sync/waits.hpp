// What a thread says of an operation that waits, or that ends others' waits.
#pragma once

#include "objects.hpp"

namespace heddle::trace {

/// An operation that must wait: the records of its begin and end. Where the thread is cancelled, or
/// a handler jumps away, the end is not recorded, which is what the calls around it tell.
class [[nodiscard("ended() is to be called when the operation returns")]] Waiting {
 public:
  /// `more`: kTimed, kWrites, kShared. `beside`: the record's last word, which depends on the kind.
  /// Of what a thread has: the kernel's number of that thread by the word of libc or of the kernel,
  /// which know also of takers that the object does not know of; 0: they do not tell. Of a
  /// condition, the number of its mutex, which the thread must take again before its wait ends.
  Waiting(const void* at, ObjectKind kind, std::uint32_t more, const Caller& caller,
          std::uint64_t beside = 0);

  /// The operation has returned an error number, or 0. Errno is left alone. From then on there may
  /// be no object any more.
  void ended(int result);

  /// Null: there is no room for it, or recording is paused.
  [[nodiscard]] Object* object() const { return object_; }

 private:
  Object* object_;
};

/// The calling thread is about to wake up whoever waits for the object. `more`: kAll. False: nobody
/// waits.
bool tell_wake(Object* object, const Caller& caller, std::uint32_t more = 0);

/// An operation on an object that has no holder, or whose holder need not be the one that lets go:
/// it got what it wanted, without waiting or after it.
void note_taken(Object* object, const Caller& caller);

}  // namespace heddle::trace
