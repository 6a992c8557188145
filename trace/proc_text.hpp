// The kernel's texts about this process. Names stand in them that others chose.
#pragma once

#include "stack_bounds.hpp"

namespace heddle::trace {

/// Reads `start-end …` lines of /proc/self/maps until one holds the address. `text` is room for a
/// line at least; a longer one ends the search.
[[nodiscard]] bool find_in_maps(long fd, std::uint64_t address, StackBounds& found, char* text,
                                std::uint64_t room);

/// An address in the main thread's stack: field 28 of /proc/self/stat, counted behind the command's
/// name, which may contain anything. 0: it is not there.
[[nodiscard]] std::uint64_t start_of_main_stack(const char* text, std::uint64_t bytes);

}  // namespace heddle::trace
