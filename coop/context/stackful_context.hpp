// The members of stackful_context that are not inlined; for the file that instantiates them.
#pragma once

#include <cstddef>
#include <utility>

#include "heddle/coop/context/stackful_context.hpp"
#include "stack_overflow.hpp"

namespace heddle::coop {

template <class Switch>
stackful_context<Switch>::stackful_context() noexcept
    : thread_exceptions_(detail::thread_exceptions()), home_(this), started_(true) {
  static_assert(offsetof(stackful_context, switch_) == 0);
  detail::provide_signal_stack();
  sanitizer_.adopt();
}

template <class Switch>
stackful_context<Switch>::stackful_context(entry_function entry, void* argument,
                                           std::size_t stack_bytes)
    : stackful_context(entry, argument,
                       stack((detail::require_stack_bytes(stack_bytes, minimum_stack_bytes(), name),
                              stack_bytes))) {}

template <class Switch>
stackful_context<Switch>::stackful_context(entry_function entry, void* argument, stack&& runs_on)
    : entry_(entry), argument_(argument), stack_(std::move(runs_on)) {
  detail::require_stack_bytes(stack_.bytes(), minimum_stack_bytes(), name);
  switch_.prepare(stack_, &start);
  sanitizer_.create(stack_.bottom(), stack_.bytes());
}

template <class Switch>
stackful_context<Switch>::~stackful_context() {
  if (entry_ != nullptr) end();
  sanitizer_.destroy();
}

template <class Switch>
void stackful_context<Switch>::end() noexcept {
  if (stack_.contains(__builtin_frame_address(0))) {
    detail::fatal("a context deletes itself while it runs; switch away and delete it from there");
  }
  if (!started_ || finished_) return;
  stackful_context here;
  home_ = &here;  // where start() goes when the stack is unwound
  transfer(here, *this, resume_reason::unwind, false);
}

template <class Switch>
resume_reason stackful_context<Switch>::transfer_handling(stackful_context& from,
                                                          stackful_context& to,
                                                          resume_reason reason,
                                                          bool for_ever) noexcept {
  const detail::exception_state mine = std::exchange(*from.thread_exceptions_, {});
  const resume_reason woken = jump(from, to, reason, for_ever);
  *from.thread_exceptions_ = mine;
  return woken;
}

template <class Switch>
void stackful_context<Switch>::start(Switch* self_switch, Switch* from_switch,
                                     resume_reason) noexcept {
  auto* const self = reinterpret_cast<stackful_context*>(self_switch);
  auto* const from = reinterpret_cast<stackful_context*>(from_switch);
  detail::sanitizer_fiber::arrive(self->sanitizer_);
  self->started_ = true;
  self->home_ = from->home_;
  self->thread_exceptions_ = from->thread_exceptions_;
  try {
    self->entry_(self->argument_);
  } catch (const forced_unwind&) {
    // Asked for by end(), which waits at home_.
  }
  self->finished_ = true;
  transfer(*self, *self->home_, resume_reason::run, true);
  detail::fatal("switched to a context that has finished");
}

}  // namespace heddle::coop
