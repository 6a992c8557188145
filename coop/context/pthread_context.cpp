#include "heddle/coop/context/pthread_context.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace heddle::coop {

// Invariant: of a family of contexts exactly one thread is not in wait(), apart from one that is on
// its way there or out of its last give(). Everything else is written by the running one and
// handed over with the mutex of the context that runs next.

std::size_t pthread_context::minimum_stack_bytes() noexcept {
  const long system = sysconf(_SC_THREAD_STACK_MIN);
  return std::max(static_cast<std::size_t>(PTHREAD_STACK_MIN),
                  static_cast<std::size_t>(std::max(system, 0L)));
}

pthread_context::pthread_context() noexcept : home_(this), started_(true) {}

pthread_context::pthread_context(entry_function entry, void* argument, std::size_t stack_bytes)
    : entry_(entry), argument_(argument), stack_bytes_(stack_bytes) {
  detail::require_stack_bytes(stack_bytes, minimum_stack_bytes(), name);
}

pthread_context::~pthread_context() {
  if (entry_ == nullptr || !started_) return;
  if (pthread_equal(thread_, pthread_self()) != 0) {
    detail::fatal("a context deletes itself while it runs; switch away and delete it from there");
  }
  if (!finished_) {
    unwinding_ = true;
    give(turn::unwind);
  }
  // Only when the thread is gone are the mutex and the condition variable out of use.
  pthread_join(thread_, nullptr);
}

void pthread_context::switch_to(pthread_context& from, pthread_context& to) {
  if (transfer(from, to) != resume_reason::run) [[unlikely]]
    detail::throw_forced_unwind();
}

resume_reason pthread_context::transfer(pthread_context& from, pthread_context& to) {
  if (to.finished_) detail::fatal("switched to a context that has finished");
  if (!to.started_) to.start_thread(from.home_);
  to.give(turn::run);
  return from.wait() == turn::unwind ? resume_reason::unwind : resume_reason::run;
}

// Signals with the mutex held: the other side cannot leave wait(), and destroy the condition
// variable, before we are done with it.
void pthread_context::give(turn what) noexcept {
  const std::lock_guard lock(mutex_);
  turn_ = what;
  resumed_.notify_one();
}

pthread_context::turn pthread_context::wait() noexcept {
  std::unique_lock lock(mutex_);
  resumed_.wait(lock, [this] { return turn_ != turn::suspended; });
  return std::exchange(turn_, turn::suspended);
}

void pthread_context::start_thread(pthread_context* home) {
  home_ = home;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = pthread_attr_setstacksize(&attributes, stack_bytes_);
  if (error == 0) error = pthread_create(&thread_, &attributes, &start, this);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            "cannot start the thread of a pthread context (see `ulimit -u` and "
                            "`sysctl kernel.threads-max`)");
  }
  started_ = true;
}

void* pthread_context::start(void* argument) noexcept {
  auto* self = static_cast<pthread_context*>(argument);
  if (self->wait() == turn::unwind) return nullptr;
  try {
    self->entry_(self->argument_);
  } catch (const forced_unwind&) {
  }
  // Being unwound, however the entry function ended: the destructor waits for this thread to end.
  if (self->unwinding_) return nullptr;
  self->finished_ = true;
  self->home_->give(turn::run);
  return nullptr;
}

}  // namespace heddle::coop
