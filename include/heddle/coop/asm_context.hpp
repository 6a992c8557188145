#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/coop/context.hpp"
#include "heddle/coop/exception_state.hpp"
#include "heddle/coop/sanitizer.hpp"
#include "heddle/coop/stack.hpp"

#if !defined(__x86_64__)
#error "heddle/coop/asm_context.hpp: written for x86-64; use ucontext_context.hpp here"
#endif

namespace heddle::coop {

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
class asm_context {
 public:
  static constexpr std::string_view name = "asm";

  /// The smallest stack that a context may be given, in bytes.
  [[nodiscard]] static std::size_t minimum_stack_bytes() noexcept { return stack::minimum_bytes; }

  asm_context() noexcept;
  asm_context(entry_function entry, void* argument, std::size_t stack_bytes);
  ~asm_context();

  asm_context(const asm_context&) = delete;
  asm_context& operator=(const asm_context&) = delete;

  /// See the concept `context`.
  [[gnu::always_inline]] static inline void switch_to(asm_context& from, asm_context& to) {
    if (transfer(from, to) != resume_reason::run) [[unlikely]] {
      detail::throw_forced_unwind();
    }
  }

  /// As switch_to, but returns why `from` runs again instead of throwing. Told to `unwind`, the
  /// caller returns from its entry function as soon as it can; for code without exceptions.
  [[nodiscard(
      "a context told to unwind must end")]] [[gnu::always_inline]] static inline resume_reason
  transfer(asm_context& from, asm_context& to) noexcept {
    return transfer(from, to, resume_reason::run, false);
  }

 private:
  // First, because the assembly reaches it by the context's address.
  struct saved {
    void* ip;
    void* sp;
    void* bp;
  } saved_{};

  detail::exception_state* thread_exceptions_ = nullptr;  // of the thread that runs us
  [[no_unique_address]] detail::sanitizer_fiber sanitizer_;
  asm_context* home_ = nullptr;
  entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  bool started_ = false;
  bool finished_ = false;
  stack stack_;

  [[gnu::always_inline]] static inline resume_reason transfer(asm_context& from, asm_context& to,
                                                              resume_reason reason,
                                                              bool for_ever) noexcept;
  /// The switch alone. No exception may be handled or in flight on the thread.
  [[gnu::always_inline]] static inline resume_reason jump(asm_context& from, asm_context& to,
                                                          resume_reason reason,
                                                          bool for_ever) noexcept;
  /// A switch while `from` handles an exception: puts the thread's state aside until it runs again.
  static resume_reason transfer_handling(asm_context& from, asm_context& to, resume_reason reason,
                                         bool for_ever) noexcept;

  /// The first thing that runs on a new stack: jumped to, with the registers of `transfer` as
  /// arguments.
  [[noreturn]] static void start(asm_context* self, asm_context* from,
                                 resume_reason reason) noexcept;
};

inline resume_reason asm_context::transfer(asm_context& from, asm_context& to, resume_reason reason,
                                           bool for_ever) noexcept {
  // Whoever handles an exception takes it along and leaves the thread with none. So whoever is
  // switched to finds none, and has nothing to look for: most switches are two loads and a test.
  if (from.thread_exceptions_->any()) [[unlikely]] {
    return transfer_handling(from, to, reason, for_ever);
  }
  return jump(from, to, reason, for_ever);
}

inline resume_reason asm_context::jump(asm_context& from, asm_context& to, resume_reason reason,
                                       [[maybe_unused]] bool for_ever) noexcept {
  detail::sanitizer_fiber::leave(from.sanitizer_, to.sanitizer_, for_ever);

  // to in rdi, from in rsi, reason in edx: the argument registers of start().
  asm_context* to_register = &to;
  asm_context* from_register = &from;
  int reason_register = static_cast<int>(reason);
  asm volatile(
      // No push and no call: either would write into the red zone below rsp, where a leaf function
      // keeps locals. A jump, not a return: the return predictor knows nothing of our switches and
      // each wrong guess costs some 20 cycles; an indirect jump has a history of its own.
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
      // Whoever switched back left its own `from` and `to` in rsi and rdi, and its reason in edx.
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

#if defined(HEDDLE_ASAN)
  detail::sanitizer_fiber::arrive(to_register->sanitizer_);
#endif
  return static_cast<resume_reason>(reason_register);
}

}  // namespace heddle::coop
