#pragma once

#include <cstdint>
#include <string_view>

namespace heddle::coop::detail {

/// Makes SIGSEGV at the guard of a stack say whose stack it was and what to do, and then go on to
/// whatever handled SIGSEGV before; without a handler the program ends by the signal, as it would
/// have. The first call of a process installs the handler; one that the program installs later
/// replaces it.
void report_overflows();

/// A strand as the report of an overflow names it.
struct named_strand {
  std::uint64_t number;  // 0: there is no strand
  std::string_view name;
};
/// The report names the strand that `running` returns, the one that runs on the calling thread.
/// `running` is called by the handler of the signal: it may not allocate, lock or throw.
void name_overflows_by(named_strand (*running)() noexcept) noexcept;

/// Gives the calling thread an alternate stack for signals, unless it has one: the handler cannot
/// run on a stack that is full. Taken away when the thread ends.
void provide_signal_stack() noexcept;

}  // namespace heddle::coop::detail
