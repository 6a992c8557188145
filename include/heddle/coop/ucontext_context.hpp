#pragma once

#include <ucontext.h>

#include <cstddef>
#include <string_view>

#include "heddle/coop/context.hpp"
#include "heddle/coop/exception_state.hpp"
#include "heddle/coop/sanitizer.hpp"
#include "heddle/coop/stack.hpp"

namespace heddle::coop {

/// The portable backend: `makecontext` and `swapcontext`, which save and restore the signal mask by
/// one `rt_sigprocmask` system call a switch.
class ucontext_context {
 public:
  static constexpr std::string_view name = "ucontext";

  /// The smallest stack that a context may be given, in bytes.
  [[nodiscard]] static std::size_t minimum_stack_bytes() noexcept { return stack::minimum_bytes; }

  ucontext_context() noexcept;
  ucontext_context(entry_function entry, void* argument, std::size_t stack_bytes);
  ~ucontext_context();

  ucontext_context(const ucontext_context&) = delete;
  ucontext_context& operator=(const ucontext_context&) = delete;

  /// See the concept `context`.
  static void switch_to(ucontext_context& from, ucontext_context& to) {
    if (transfer(from, to) != resume_reason::run) [[unlikely]]
      detail::throw_forced_unwind();
  }

  /// As switch_to, but returns why `from` runs again instead of throwing. Told to `unwind`, the
  /// caller returns from its entry function as soon as it can; for code without exceptions.
  [[nodiscard("a context told to unwind must end")]] static resume_reason transfer(
      ucontext_context& from, ucontext_context& to) noexcept {
    return transfer(from, to, resume_reason::run, false);
  }

 private:
  static resume_reason transfer(ucontext_context& from, ucontext_context& to, resume_reason reason,
                                bool for_ever) noexcept;
  static void start(unsigned int high, unsigned int low) noexcept;

  ucontext_t saved_{};
  detail::exception_state exceptions_{};
  detail::exception_state* thread_exceptions_ = nullptr;  // of the thread that runs us
  [[no_unique_address]] detail::sanitizer_fiber sanitizer_;
  ucontext_context* home_ = nullptr;
  entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  resume_reason reason_ = resume_reason::run;  // set by whoever switches to us
  bool started_ = false;
  bool finished_ = false;
  stack stack_;
};

}  // namespace heddle::coop
