#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/coop/context/stackful_context.hpp"

#if !defined(__x86_64__)
#error "heddle/coop/context/asm_context.hpp: written for x86-64; use ucontext_context.hpp here"
#endif

namespace heddle::coop {

namespace detail {

/// A switch inlined at its call site: see asm_context.
struct asm_switch {
  static constexpr std::string_view name = "asm";
  static constexpr std::size_t minimum_stack_bytes = stack::minimum_bytes;
  using first_function = void (*)(asm_switch* self, asm_switch* from, resume_reason reason);

  // The assembly addresses them as 0, 8 and 16 of the switch.
  void* ip = nullptr;
  void* sp = nullptr;
  void* bp = nullptr;

  void prepare(const stack& stack, first_function first) noexcept;

  [[gnu::always_inline]] static inline resume_reason jump(asm_switch& from, asm_switch& to,
                                                          resume_reason reason) noexcept {
    // to in rdi, from in rsi, reason in edx: the argument registers of the first function.
    asm_switch* to_register = &to;
    asm_switch* from_register = &from;
    int reason_register = static_cast<int>(reason);
    asm volatile(
        // No push and no call: either would write into the red zone below rsp, where a leaf
        // function keeps locals. A jump, not a return: the return predictor knows nothing of our
        // switches and each wrong guess costs some 20 cycles; an indirect jump has a history of its
        // own.
        //
        // All loads come before the stores: a load behind a store to an address that is itself just
        // being loaded waits for it, which doubles the time of a switch (AMD Zen).
        "movq 0(%[to]), %%r8\n\t"
        "movq 8(%[to]), %%rcx\n\t"
        "movq 16(%[to]), %%rbx\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 0(%[from])\n\t"
        "movq %%rsp, 8(%[from])\n\t"
        "movq %%rbp, 16(%[from])\n\t"
        "movq %%rcx, %%rsp\n\t"
        "movq %%rbx, %%rbp\n\t"
        "jmpq *%%r8\n"
        "1:\n\t"
        // The context that switched back left its own `from` and `to` in rsi and rdi, and its
        // reason in edx.
        : [to] "+D"(to_register), [from] "+S"(from_register), "+d"(reason_register)
        :
        : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
#if defined(__AVX512F__)
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
          "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",
          "k6", "k7",
#endif
          "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5",
          "mm6", "mm7", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc",
          "memory");
    return static_cast<resume_reason>(reason_register);
  }
};

}  // namespace detail

/// The fastest backend: a switch inlined at its call site.
///
/// The compiler is told that the switch clobbers every register, so it saves exactly what is alive
/// there, and nothing where nothing is. Only the stack pointer, the frame pointer (which cannot be
/// named as clobbered) and the address to go on at are stored.
///
/// Not switched: the x87 control word and MXCSR (rounding modes, exception masks) and everything
/// `thread_local`; they belong to the thread. With AVX-512 chosen for single functions by
/// `__attribute__((target))` rather than for the file, zmm16-zmm31 are not known to be clobbered:
/// compile the file with `-mavx512f`.
using asm_context = stackful_context<detail::asm_switch>;

extern template class stackful_context<detail::asm_switch>;

}  // namespace heddle::coop
