#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "heddle/coop/context/context.hpp"
#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/detail/exception_state.hpp"
#include "heddle/coop/ext/sanitizer.hpp"

namespace heddle::coop {

namespace detail {
class fiber;
}

/// A context on a stack of ours, for any mechanism of switching: what remains is the same.
///
/// `Switch` holds what the mechanism saves of a suspended context, and has
/// - `name` and `minimum_stack_bytes`;
/// - `Switch()`, for a blank context;
/// - `prepare(const stack&, first)`: the first jump to it calls `first(self, from, reason)` on that
///   stack, which never returns. Throws std::system_error if it can't be had;
/// - `jump(Switch& from, Switch& to, reason)`: suspends `from` and resumes `to`. Returns, when
///   something jumps to `from`, the reason given there.
template <class Switch>
class stackful_context {
 public:
  static constexpr std::string_view name = Switch::name;

  /// The smallest stack that a context may be given, in bytes. See there what does not fit on it.
  [[nodiscard]] static std::size_t minimum_stack_bytes() noexcept {
    return Switch::minimum_stack_bytes;
  }

  stackful_context() noexcept;
  stackful_context(entry_function entry, void* argument, std::size_t stack_bytes);
  /// Like the one above, on a stack chosen by the caller.
  stackful_context(entry_function entry, void* argument, stack&& runs_on);
  ~stackful_context();

  stackful_context(const stackful_context&) = delete;
  stackful_context& operator=(const stackful_context&) = delete;

  /// See the concept `context`.
  [[gnu::always_inline]] static inline void switch_to(stackful_context& from,
                                                      stackful_context& to) {
    if (transfer(from, to) != resume_reason::run) [[unlikely]] {
      detail::throw_forced_unwind();
    }
  }

  /// Like switch_to, but returns why `from` runs again instead of throwing. Told to `unwind`, the
  /// caller returns from its entry function as soon as it can; for code without exceptions.
  [[nodiscard(
      "a context told to unwind must end")]] [[gnu::always_inline]] static inline resume_reason
  transfer(stackful_context& from, stackful_context& to) noexcept {
    return transfer(from, to, resume_reason::run, false);
  }

 private:
  friend detail::fiber;

  Switch switch_;  // first: what jumps to us is told its address, which is ours
  detail::exception_state* thread_exceptions_ = nullptr;  // of the thread that runs us
  detail::sanitizer_fiber sanitizer_;
  stackful_context* home_ = nullptr;
  entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  bool started_ = false;
  bool finished_ = false;
  stack stack_;

  [[gnu::always_inline]] static inline resume_reason transfer(stackful_context& from,
                                                              stackful_context& to,
                                                              resume_reason reason,
                                                              bool for_ever) noexcept;

  /// The switch alone. No exception may be handled or in flight on the thread.
  [[gnu::always_inline]] static inline resume_reason jump(stackful_context& from,
                                                          stackful_context& to,
                                                          resume_reason reason,
                                                          bool for_ever) noexcept;
  /// A switch while `from` handles an exception: puts the thread's state aside until it runs again.
  static resume_reason transfer_handling(stackful_context& from, stackful_context& to,
                                         resume_reason reason, bool for_ever) noexcept;

  /// The first thing that runs on a new stack.
  [[noreturn]] static void start(Switch* self, Switch* from, resume_reason reason) noexcept;

  /// Unwinds the stack if the context is suspended. It runs no more after that.
  void end() noexcept;
};

template <class Switch>
inline resume_reason stackful_context<Switch>::transfer(stackful_context& from,
                                                        stackful_context& to, resume_reason reason,
                                                        bool for_ever) noexcept {
  // A context that handles an exception takes it along when it switches away, and leaves the thread
  // with none. So the context that is switched to finds none and need not check: most switches are
  // two loads and a test.
  if (from.thread_exceptions_->any()) [[unlikely]] {
    return transfer_handling(from, to, reason, for_ever);
  }
  return jump(from, to, reason, for_ever);
}

template <class Switch>
inline resume_reason stackful_context<Switch>::jump(stackful_context& from, stackful_context& to,
                                                    resume_reason reason, bool for_ever) noexcept {
  detail::sanitizer_fiber::leave(from.sanitizer_, to.sanitizer_, for_ever);
  reason = Switch::jump(from.switch_, to.switch_, reason);
  detail::sanitizer_fiber::arrive(from.sanitizer_);
  return reason;
}

}  // namespace heddle::coop
