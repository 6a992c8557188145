// What a hook does when its quick way is closed.
#pragma once

#include "thread.hpp"

namespace heddle::trace {

/// Records an event where there is nothing to reserve on: first event, a module to look for, or no
/// file.
[[gnu::cold]] void record_slowly(std::uint64_t function, std::uint64_t call_site,
                                 std::uint64_t stack_pointer, std::uint64_t exit_bit);

/// Stores an event for which `index` was reserved on `segment` and found no room.
[[gnu::cold]] void record_beyond(std::uint64_t when, std::uint64_t function,
                                 std::uint64_t call_site, std::uint64_t stack_pointer,
                                 std::uint64_t index, const Segment* segment);

/// Makes every thread's next hooks look for new modules.
void expect_module();

}  // namespace heddle::trace
