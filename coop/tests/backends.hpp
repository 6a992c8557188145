#pragma once

#include <algorithm>
#include <functional>

#include "heddle/coop/asm_context.hpp"
#include "heddle/coop/pthread_context.hpp"
#include "heddle/coop/stack.hpp"
#include "heddle/coop/ucontext_context.hpp"

#define HEDDLE_BACKENDS \
  heddle::coop::asm_context, heddle::coop::ucontext_context, heddle::coop::pthread_context

static_assert(heddle::coop::context<heddle::coop::asm_context>);
static_assert(heddle::coop::context<heddle::coop::ucontext_context>);
static_assert(heddle::coop::context<heddle::coop::pthread_context>);

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
template <class Context>
struct strand {
  explicit strand(std::function<void()> code, std::size_t bytes = stack_bytes)
      : body(std::move(code)), context(&run, this, bytes) {}

  static void run(void* self) { static_cast<strand*>(self)->body(); }

  std::function<void()> body;
  Context context;
};
