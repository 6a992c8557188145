// Fortified, longjmp ends the program when it goes to a lower address: here that is another stack.
#undef _FORTIFY_SOURCE

#include "heddle/coop/context/setjmp_context.hpp"

#include <ucontext.h>

#include <cstdint>

#include "stackful_context.hpp"

namespace heddle::coop {
namespace {

// On the new stack. Comes back at once, and is resumed by the first jump.
void enter(unsigned int self_high, unsigned int self_low, unsigned int maker_high,
           unsigned int maker_low) noexcept {
  const auto pointer = [](unsigned int high, unsigned int low) {
    return std::uintptr_t{high} << 32 | low;
  };
  auto* const self = reinterpret_cast<detail::setjmp_switch*>(pointer(self_high, self_low));
  if (_setjmp(self->saved) == 0) {
    setcontext(reinterpret_cast<const ucontext_t*>(pointer(maker_high, maker_low)));
  }
  self->first(self, self->resumer, self->reason);
}

}  // namespace

void detail::setjmp_switch::prepare(const stack& stack, first_function first_to_run) noexcept {
  first = first_to_run;
  ucontext_t maker;
  ucontext_t made;
  getcontext(&made);
  made.uc_stack.ss_sp = stack.bottom();
  made.uc_stack.ss_size = stack.bytes();
  made.uc_link = nullptr;  // the first function never returns
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  const auto back = reinterpret_cast<std::uintptr_t>(&maker);
  // makecontext passes ints only: the pointers travel in halves.
  makecontext(&made, reinterpret_cast<void (*)()>(&enter), 4, static_cast<unsigned int>(self >> 32),
              static_cast<unsigned int>(self), static_cast<unsigned int>(back >> 32),
              static_cast<unsigned int>(back));
  swapcontext(&maker, &made);
}

resume_reason detail::setjmp_switch::jump(setjmp_switch& from, setjmp_switch& to,
                                          resume_reason why) noexcept {
  to.resumer = &from;
  to.reason = why;
  if (_setjmp(from.saved) == 0) _longjmp(to.saved, 1);
  return from.reason;
}

template class stackful_context<detail::setjmp_switch>;

}  // namespace heddle::coop
