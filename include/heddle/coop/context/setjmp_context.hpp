#pragma once

#include <csetjmp>
#include <cstddef>
#include <string_view>

#include "heddle/coop/context/stackful_context.hpp"

namespace heddle::coop {

namespace detail {

struct setjmp_switch {
  static constexpr std::string_view name = "setjmp";
  static constexpr std::size_t minimum_stack_bytes = stack::minimum_bytes;
  using first_function = void (*)(setjmp_switch* self, setjmp_switch* from, resume_reason reason);

  void prepare(const stack& stack, first_function first) noexcept;
  static resume_reason jump(setjmp_switch& from, setjmp_switch& to, resume_reason reason) noexcept;

  std::jmp_buf saved{};
  first_function first = nullptr;
  setjmp_switch* resumer = nullptr;           // who jumped to us last
  resume_reason reason = resume_reason::run;  // and why
};

}  // namespace detail

/// `_setjmp` and `_longjmp`, which leave the signal mask alone: no system call a switch. A new
/// stack is entered once by `makecontext`, to call `_setjmp` there. Not with ThreadSanitizer, which
/// wants a longjmp to stay on its stack.
using setjmp_context = stackful_context<detail::setjmp_switch>;

extern template class stackful_context<detail::setjmp_switch>;

}  // namespace heddle::coop
