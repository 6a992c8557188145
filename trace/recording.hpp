// The slow path of the hooks.
#pragma once

#include "thread.hpp"

extern "C" {

/// Records an event: the first, the first in a while or on another stack, one with no room left in
/// its block, one that a signal interrupted; or looks for a module first; or counts what cannot be
/// recorded. Called by the hooks (arch/x86_64_hooks.S), whose arguments see struct Call.
[[gnu::visibility("hidden"), gnu::cold]] void heddle_record_slowly(std::uint64_t function,
                                                                   std::uint64_t call_site,
                                                                   std::uint64_t stack_pointer,
                                                                   std::uint64_t kind);
}

namespace heddle::trace {

/// Looks which modules are loaded, and sends the hooks the way that this leaves them. `wait`, and
/// the result: as scan_modules.
bool update_modules(Process& process, bool wait = false);

/// For a thread that has just got its buffer: the same, now or at its next event.
void meet_modules(Process& process, Thread& thread);

/// Looks for a module that dlopen may have loaded (expect_module). Signals blocked, Busy.
void meet_new_module(Process& process, Thread& thread);

/// Records the calls that were made before the library's constructor, if there are any (early.hpp).
void record_early_calls();

/// Makes every thread's next hooks look for new modules.
void expect_module();

}  // namespace heddle::trace
