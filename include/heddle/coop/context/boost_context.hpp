#pragma once

// Without Boost.Context's headers there is nothing here.
#if __has_include(<boost/context/detail/fcontext.hpp>)
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <string_view>

#include "heddle/coop/context/stackful_context.hpp"

namespace heddle::coop {

namespace detail {

struct boost_switch {
  static constexpr std::string_view name = "boost";
  static constexpr std::size_t minimum_stack_bytes = stack::minimum_bytes;
  using first_function = void (*)(boost_switch* self, boost_switch* from, resume_reason reason);

  void prepare(const stack& stack, first_function first) noexcept;
  // Inlined: jump_fcontext ends with a jump, so that the return of a function around it would be
  // predicted wrong each time.
  [[gnu::always_inline]] static inline resume_reason jump(boost_switch& from, boost_switch& to,
                                                          resume_reason why) noexcept {
    to.resumer = &from;
    to.reason = why;
    // The jump that resumes us returns the place at which the context that resumed us is to
    // continue.
    const auto back = boost::context::detail::jump_fcontext(to.saved, &to);
    from.resumer->saved = back.fctx;
    return from.reason;
  }

  boost::context::detail::fcontext_t saved = nullptr;
  first_function first = nullptr;
  boost_switch* resumer = nullptr;            // who jumped to us last
  resume_reason reason = resume_reason::run;  // and why
};

}  // namespace detail

/// Boost.Context's assembly, `jump_fcontext`, which saves the registers that a function call keeps,
/// MXCSR and the x87 control word. In the library if Boost.Context was there when it was built;
/// a program that includes this needs its headers, too.
using boost_context = stackful_context<detail::boost_switch>;

extern template class stackful_context<detail::boost_switch>;

}  // namespace heddle::coop

#endif
