#include "heddle/coop/context/ucontext_context.hpp"

#include <cstdint>

#include "stackful_context.hpp"

namespace heddle::coop {
namespace {

// makecontext passes ints only: the pointer travels in two halves.
void enter(unsigned int high, unsigned int low) noexcept {
  auto* const self = reinterpret_cast<detail::ucontext_switch*>(std::uintptr_t{high} << 32 | low);
  self->first(self, self->resumer, self->reason);
}

}  // namespace

void detail::ucontext_switch::prepare(const stack& stack, first_function first_to_run) noexcept {
  first = first_to_run;
  getcontext(&saved);
  saved.uc_stack.ss_sp = stack.bottom();
  saved.uc_stack.ss_size = stack.bytes();
  saved.uc_link = nullptr;  // the first function never returns
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&saved, reinterpret_cast<void (*)()>(&enter), 2,
              static_cast<unsigned int>(self >> 32), static_cast<unsigned int>(self));
}

resume_reason detail::ucontext_switch::jump(ucontext_switch& from, ucontext_switch& to,
                                            resume_reason why) noexcept {
  to.resumer = &from;
  to.reason = why;
  swapcontext(&from.saved, &to.saved);
  return from.reason;
}

template class stackful_context<detail::ucontext_switch>;

}  // namespace heddle::coop
