// Where the frames of C++20 coroutines come from, and when they are gone: operator new and delete,
// in front of the C++ library's.
//
// An instance lives from the allocation of its frame until that is freed. Its enters do not tell
// that wherever the optimiser has put its first activation into the ramp, or the ramp into its
// caller. So heddle record's plan (plan.hpp) says from which code frames are allocated, and which
// functions destroy coroutines: a frame has the address of such a function in its second word.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// Tells where each coroutine is suspended whose frame is there still. To be called at the
/// program's exit: nothing else says that of those that are never resumed again.
void tell_left_frames();

}  // namespace heddle::trace

extern "C" {

/// Appends a record of three words: `first`, the time, `third` (arch/x86_64_hooks.S).
[[gnu::visibility("hidden")]] void heddle_append(std::uint64_t first, std::uint64_t third);
}
