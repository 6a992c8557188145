#pragma once

#include <cstddef>

#if defined(__x86_64__)
#include "heddle/coop/asm_context.hpp"
#else
#include "heddle/coop/ucontext_context.hpp"
#endif
#include "heddle/coop/strand_block.hpp"

namespace heddle::coop::detail {

#if defined(__x86_64__)
using fiber_context = asm_context;
#else
using fiber_context = ucontext_context;
#endif

/// A stack on which the scheduler runs stackful strands, one after another: when one ends, the
/// fiber takes the next that has not started, without a switch, or waits in the pool.
class fiber {
 public:
  fiber(scheduler& owner, std::size_t stack_bytes)
      : context(&main, this, stack_bytes), owner_(owner) {}

  fiber_context context;
  strand_block* job = nullptr;

 private:
  static void main(void* self);

  scheduler& owner_;
};

}  // namespace heddle::coop::detail
