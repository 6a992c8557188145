#pragma once

#include <ucontext.h>

#include <cstddef>
#include <string_view>

#include "heddle/coop/context/stackful_context.hpp"

namespace heddle::coop {

namespace detail {

struct ucontext_switch {
  static constexpr std::string_view name = "ucontext";
  static constexpr std::size_t minimum_stack_bytes = stack::minimum_bytes;
  using first_function = void (*)(ucontext_switch* self, ucontext_switch* from,
                                  resume_reason reason);

  void prepare(const stack& stack, first_function first) noexcept;
  static resume_reason jump(ucontext_switch& from, ucontext_switch& to,
                            resume_reason reason) noexcept;

  ucontext_t saved{};
  first_function first = nullptr;
  ucontext_switch* resumer = nullptr;         // who jumped to us last
  resume_reason reason = resume_reason::run;  // and why
};

}  // namespace detail

/// The portable backend: `makecontext` and `swapcontext`, which save and restore the signal mask by
/// one `rt_sigprocmask` system call a switch.
using ucontext_context = stackful_context<detail::ucontext_switch>;

extern template class stackful_context<detail::ucontext_switch>;

}  // namespace heddle::coop
