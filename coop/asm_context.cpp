#include "heddle/coop/asm_context.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace heddle::coop {

asm_context::asm_context() noexcept
    : thread_exceptions_(detail::thread_exceptions()), home_(this), started_(true) {
  // The assembly addresses ip, sp and bp as 0, 8 and 16 of the context.
  static_assert(offsetof(asm_context, saved_) == 0 && offsetof(saved, ip) == 0 &&
                offsetof(saved, sp) == 8 && offsetof(saved, bp) == 16);
  sanitizer_.adopt();
}

asm_context::asm_context(entry_function entry, void* argument, std::size_t stack_bytes)
    : entry_(entry), argument_(argument), stack_(stack_bytes) {
  // start() is entered by a jump but compiled to be called: it expects a return address on top of a
  // stack that was 16-byte aligned before. Address 0 there, and frame pointer 0, end a backtrace.
  std::byte* sp = stack_.top() - sizeof(void*);
  std::memset(sp, 0, sizeof(void*));
  saved_ = {.ip = reinterpret_cast<void*>(&start), .sp = sp, .bp = nullptr};
  sanitizer_.create(stack_.bottom(), stack_.bytes());
}

asm_context::~asm_context() {
  if (entry_ == nullptr) return;
  if (stack_.contains(__builtin_frame_address(0))) {
    detail::fatal("a context deletes itself while it runs; switch away and delete it from there");
  }
  if (started_ && !finished_) {
    asm_context here;
    home_ = &here;  // where start() goes when the stack is unwound
    transfer(here, *this, resume_reason::unwind, false);
  }
  sanitizer_.destroy();
}

resume_reason asm_context::transfer_handling(asm_context& from, asm_context& to,
                                             resume_reason reason, bool for_ever) noexcept {
  const detail::exception_state mine = std::exchange(*from.thread_exceptions_, {});
  const resume_reason woken = jump(from, to, reason, for_ever);
  *from.thread_exceptions_ = mine;
  return woken;
}

void asm_context::start(asm_context* self, asm_context* from, resume_reason) noexcept {
#if defined(HEDDLE_ASAN)
  detail::sanitizer_fiber::arrive(self->sanitizer_);
#endif
  self->started_ = true;
  self->home_ = from->home_;
  self->thread_exceptions_ = from->thread_exceptions_;
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
