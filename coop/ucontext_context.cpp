#include "heddle/coop/ucontext_context.hpp"

#include <cstdint>

namespace heddle::coop {

ucontext_context::ucontext_context() noexcept
    : thread_exceptions_(detail::thread_exceptions()), home_(this), started_(true) {
  sanitizer_.adopt();
}

ucontext_context::ucontext_context(entry_function entry, void* argument, std::size_t stack_bytes)
    : entry_(entry), argument_(argument), stack_(stack_bytes) {
  getcontext(&saved_);
  saved_.uc_stack.ss_sp = stack_.bottom();
  saved_.uc_stack.ss_size = stack_.bytes();
  saved_.uc_link = nullptr;  // start() never returns
  // makecontext passes ints only: the pointer travels in two halves.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&saved_, reinterpret_cast<void (*)()>(&start), 2,
              static_cast<unsigned int>(self >> 32), static_cast<unsigned int>(self));
  sanitizer_.create(stack_.bottom(), stack_.bytes());
}

ucontext_context::~ucontext_context() {
  if (entry_ == nullptr) return;
  if (stack_.contains(__builtin_frame_address(0))) {
    detail::fatal("a context deletes itself while it runs; switch away and delete it from there");
  }
  if (started_ && !finished_) {
    ucontext_context here;
    home_ = &here;  // where start() goes when the stack is unwound
    transfer(here, *this, resume_reason::unwind, false);
  }
  sanitizer_.destroy();
}

resume_reason ucontext_context::transfer(ucontext_context& from, ucontext_context& to,
                                         resume_reason reason, bool for_ever) noexcept {
  if (!to.started_) {
    to.home_ = from.home_;
    to.thread_exceptions_ = from.thread_exceptions_;
  }
  to.reason_ = reason;
  from.exceptions_ = *from.thread_exceptions_;
  *from.thread_exceptions_ = to.exceptions_;
  detail::sanitizer_fiber::leave(from.sanitizer_, to.sanitizer_, for_ever);
  swapcontext(&from.saved_, &to.saved_);
  detail::sanitizer_fiber::arrive(from.sanitizer_);
  return from.reason_;
}

void ucontext_context::start(unsigned int high, unsigned int low) noexcept {
  auto* self = reinterpret_cast<ucontext_context*>(std::uintptr_t{high} << 32 | low);
  detail::sanitizer_fiber::arrive(self->sanitizer_);
  self->started_ = true;
  try {
    self->entry_(self->argument_);
  } catch (const forced_unwind&) {
    // Asked for by the destructor, which waits at home_.
  }
  self->finished_ = true;
  transfer(*self, *self->home_, resume_reason::run, true);
  detail::fatal("switched to a context that has finished");
}

}  // namespace heddle::coop
