#pragma once

namespace heddle::coop::detail {

/// Makes SIGSEGV at the guard of a stack say whose stack it was and what to do, and then go on to
/// whatever handled SIGSEGV before; without a handler the program ends by the signal, as it would
/// have. The first call of a process installs the handler; one that the program installs later
/// replaces it.
void report_overflows();

/// Gives the calling thread an alternate stack for signals, unless it has one: the handler cannot
/// run on a stack that is full. Taken away when the thread ends.
void provide_signal_stack() noexcept;

}  // namespace heddle::coop::detail
