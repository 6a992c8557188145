#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace heddle::coop {

/// The function that a context runs. When it returns, control goes to the context's *home*: the
/// blank context of the flow that first switched to it (handed on from context to context).
using entry_function = void (*)(void* argument);

/// Thrown at a context's suspension point when the suspended context is destroyed, so that the
/// destructors on its stack run. Not derived from anything: only `catch (...)` meets it, and must
/// rethrow it. While it unwinds, the context must not switch; a `noexcept` function in its way ends
/// the program, as with any exception.
struct forced_unwind {};

/// Why a context that was suspended runs again.
enum class resume_reason : int { run = 0, unwind = 1 };

/// A flow of control with a stack of its own, to be switched to by hand.
///
/// - `C()` makes a *blank* context: it stands for the flow that makes it, and is filled in when
/// that
///   flow switches away. It must outlive the contexts whose home it is.
/// - `C(entry, argument, stack_bytes)` makes one that runs `entry(argument)` at the first switch to
///   it. Throws std::invalid_argument if `stack_bytes` is below `C::minimum_stack_bytes()`,
///   std::system_error if there is no room.
/// - `C::switch_to(from, to)`: `from` must be the context that is running; returns when another
///   context switches back to it. Any context may switch to any other, blank ones included.
///   Throws forced_unwind when `from` is destroyed while suspended here.
/// - Destroying a suspended context unwinds its stack first; destroying one that never ran, or that
///   has finished, frees it. A running context cannot destroy itself: the program ends with a
///   message.
///
/// A context belongs to the kernel thread that first ran it (on the pthread backend: to its own).
template <class C>
concept context =
    std::default_initializable<C> &&
    std::constructible_from<C, entry_function, void*, std::size_t> && !std::copyable<C> &&
    requires(C & from, C& to) {
  C::switch_to(from, to);
  { C::name } -> std::convertible_to<std::string_view>;
  { C::minimum_stack_bytes() } -> std::same_as<std::size_t>;
};

namespace detail {

/// Out of line, so that a switch is a compare and a jump never taken.
[[noreturn]] void throw_forced_unwind();

/// Throws and catches once, so that throwing on a small stack needs no room for binding what an
/// unwinder calls.
void bind_unwinder() noexcept;

/// Prints `error: ` and the message, then aborts: for misuse after which nothing can go on.
[[noreturn]] void fatal(const char* message) noexcept;

/// Throws std::invalid_argument if `bytes` is below `minimum`.
void require_stack_bytes(std::size_t bytes, std::size_t minimum, std::string_view backend);

}  // namespace detail
}  // namespace heddle::coop
