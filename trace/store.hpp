// Storing an event: the quick way, and the doors to the slow one.
#pragma once

#include "recording.hpp"

namespace heddle::trace {

/// The quick way. A handler that interrupts it anywhere records its own events behind or before
/// this one's slot, never in it (see Segment); the clock is read before the reservation, so what a
/// handler records in between is later in time and earlier in order, which the reader evens out.
///
/// A handler cannot interrupt this thread's slow path, because signals are blocked there.
///
/// The rare branches are tail calls with their arguments in registers: the hook itself needs no
/// stack frame.
template <typename Clock>
[[gnu::always_inline]] inline void store_event(std::uint64_t function, std::uint64_t call_site,
                                               std::uint64_t stack_pointer, std::uint64_t exit_bit,
                                               Clock clock) {
  Segment* const segment = *const_cast<Segment* volatile*>(&local.current);
  // The loader has not filled thread-local memory yet: an IFUNC's resolver, called while the
  // program is being relocated. Nothing can be recorded.
  if (segment == nullptr) [[unlikely]]
    return;
  std::uint64_t* const count = __atomic_load_n(&segment->count, __ATOMIC_RELAXED);
  if (count == nullptr) [[unlikely]] {
    return record_slowly(function, call_site, stack_pointer, exit_bit);
  }
  const std::uint64_t when = clock() | exit_bit;
  const std::uint64_t index = arch::reserve(count);
  const std::uint64_t slot = index - segment->first;
  if (slot >= __atomic_load_n(&segment->capacity, __ATOMIC_RELAXED)) [[unlikely]] {
    return record_beyond(when, function, call_site, stack_pointer, index, segment);
  }
  fill(segment->records[slot], {when, function, call_site, stack_pointer});
}

}  // namespace heddle::trace
