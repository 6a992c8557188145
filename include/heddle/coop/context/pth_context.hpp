#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/coop/context/stackful_context.hpp"

struct pth_uctx_st;

namespace heddle::coop {

namespace detail {

struct pth_switch {
  static constexpr std::string_view name = "pth";
  static constexpr std::size_t minimum_stack_bytes = stack::safe_bytes;  // as Pth demands
  using first_function = void (*)(pth_switch* self, pth_switch* from, resume_reason reason);

  pth_switch() noexcept;
  ~pth_switch();
  pth_switch(const pth_switch&) = delete;
  pth_switch& operator=(const pth_switch&) = delete;

  void prepare(const stack& stack, first_function first);
  static resume_reason jump(pth_switch& from, pth_switch& to, resume_reason reason) noexcept;

  pth_uctx_st* saved = nullptr;
  first_function first = nullptr;
  pth_switch* resumer = nullptr;              // who jumped to us last
  resume_reason reason = resume_reason::run;  // and why
};

}  // namespace detail

/// GNU Pth's user contexts, `pth_uctx_switch`. In the library if Pth was there when it was built.
///
/// Pth hands a new context its arguments in global variables: contexts are made by one thread at a
/// time.
using pth_context = stackful_context<detail::pth_switch>;

extern template class stackful_context<detail::pth_switch>;

}  // namespace heddle::coop
