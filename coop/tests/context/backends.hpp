#pragma once

#include <algorithm>
#include <functional>

#include "heddle/coop/context/asm_context.hpp"
#include "heddle/coop/context/pthread_context.hpp"
#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/context/ucontext_context.hpp"

#if defined(HEDDLE_TSAN)
#define HEDDLE_AND_SETJMP
#else
#include "heddle/coop/context/setjmp_context.hpp"
#define HEDDLE_AND_SETJMP , heddle::coop::setjmp_context
#endif
#if defined(HEDDLE_BACKEND_BOOST)
#include "heddle/coop/context/boost_context.hpp"
#define HEDDLE_AND_BOOST , heddle::coop::boost_context
#else
#define HEDDLE_AND_BOOST
#endif
#if defined(HEDDLE_BACKEND_PTH)
#include "heddle/coop/context/pth_context.hpp"
#define HEDDLE_AND_PTH , heddle::coop::pth_context
#else
#define HEDDLE_AND_PTH
#endif

/// The back ends on stacks of ours, and all back ends.
#define HEDDLE_STACKFUL_BACKENDS \
  heddle::coop::asm_context,     \
      heddle::coop::ucontext_context HEDDLE_AND_SETJMP HEDDLE_AND_BOOST HEDDLE_AND_PTH
#define HEDDLE_BACKENDS HEDDLE_STACKFUL_BACKENDS, heddle::coop::pthread_context

inline constexpr std::size_t stack_bytes = 256 * 1024;

/// The smallest stack on which code may throw. A sanitizer makes frames larger.
template <class Context>
std::size_t smallest_to_throw_on() {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
  return std::max(Context::minimum_stack_bytes(), heddle::coop::stack::safe_bytes);
#else
  return Context::minimum_stack_bytes();
#endif
}

/// A context that runs a lambda.
template <heddle::coop::context Context>
struct strand {
  explicit strand(std::function<void()> code, std::size_t bytes = stack_bytes)
      : body(std::move(code)), context(&run, this, bytes) {}

  static void run(void* self) { static_cast<strand*>(self)->body(); }

  std::function<void()> body;
  Context context;
};
