#pragma once

#include <cstddef>

#if defined(__x86_64__)
#include "heddle/coop/asm_context.hpp"
#else
#include "heddle/coop/ucontext_context.hpp"
#endif
#include "heddle/coop/sanitizer.hpp"
#include "heddle/coop/strand_block.hpp"

#if defined(HEDDLE_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace heddle::coop::detail {

#if defined(__x86_64__)
using fiber_context = asm_context;
#else
using fiber_context = ucontext_context;
#endif

#if defined(HEDDLE_ASAN)
/// A stack that is left for good keeps AddressSanitizer's marks of its last frames, and the next
/// mapping at its address would have them. Wipes them, once the stack is gone.
struct stack_marks {
  std::byte* end = nullptr;  // of the page that the fiber's first frame is in
  std::size_t bytes = 0;
  ~stack_marks() {
    if (end != nullptr) __asan_unpoison_memory_region(end - bytes, bytes);
  }
};
#endif

/// A stack on which the scheduler runs stackful strands, one after another: when one ends, the
/// fiber takes the next that has not started, without a switch, or waits in the pool.
class alignas(64) fiber {  // a cache line: the registers saved are at its start
 public:
  fiber(scheduler& owner, std::size_t stack_bytes)
      : context(&main, this, stack_bytes), owner_(owner) {
#if defined(HEDDLE_ASAN)
    marks_.bytes = stack_bytes;
#endif
  }

 private:
#if defined(HEDDLE_ASAN)
  stack_marks marks_;  // before the context, so that it is destroyed after it
#endif

 public:
  fiber_context context;
  strand_block* job = nullptr;

 private:
  static void main(void* self);

  scheduler& owner_;
};

}  // namespace heddle::coop::detail
