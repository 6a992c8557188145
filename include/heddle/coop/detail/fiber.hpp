#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#if defined(__x86_64__)
#include "heddle/coop/context/asm_context.hpp"
#else
#include "heddle/coop/context/ucontext_context.hpp"
#endif
#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop::detail {

#if defined(__x86_64__)
using fiber_context = asm_context;
#else
using fiber_context = ucontext_context;
#endif

/// A stack on which the scheduler runs stackful strands, one after another: when one ends, the
/// fiber takes the next that has not started, without a switch, or waits in the pool.
///
/// It lives on top of its stack: its saved registers and the frames that it goes on with are in one
/// page, which is one miss of the TLB a switch instead of two.
class alignas(64) fiber {  // a cache line: the registers saved are at its start
 public:
  /// On a stack of the scheduler's own size if `size` is 0. Throws as the constructor of `stack`.
  static fiber* make(scheduler& owner, std::size_t size);
  ~fiber() = default;
  static void operator delete(fiber* self, std::destroying_delete_t) noexcept;

  /// It runs on that scheduler's thread from now on. It is suspended.
  void belong_to(scheduler& owner, const fiber_context& home) noexcept;

  fiber_context context;
  strand_block* job = nullptr;
  std::uint32_t place = 0;   // among all fibers of its scheduler
  const std::uint32_t size;  // of the strands that it runs: strand_block::stack_bytes

  /// Near what it goes on with; to be prefetched, not read.
  [[nodiscard]] const void* suspended_at() const noexcept {
    if constexpr (requires { context.switch_.sp; }) {
      return context.switch_.sp;
    } else {
      return this;
    }
  }

 private:
  fiber(scheduler& owner, std::size_t its_size, stack&& runs_on)
      : context(&main, this, std::move(runs_on)),
        size(static_cast<std::uint32_t>(its_size)),
        owner_(&owner) {
    static_assert(stack::maximum_bytes <= UINT32_MAX);
  }

  static void main(void* self);

  scheduler* owner_;
};

}  // namespace heddle::coop::detail
