// The second way in (-mfentry -minstrument-return=call): what arch/x86_64_entry.S leaves to
// compiled code, on an aligned stack and with every register saved.
#include "arch/x86_64_layout.h"
#include "store.hpp"

namespace heddle::trace {

static_assert(offsetof(Local, current) == HEDDLE_LOCAL_CURRENT);
static_assert(offsetof(Segment, count) == HEDDLE_SEGMENT_COUNT);
static_assert(offsetof(Segment, first) == HEDDLE_SEGMENT_FIRST);
static_assert(offsetof(Segment, capacity) == HEDDLE_SEGMENT_CAPACITY);
static_assert(offsetof(Segment, records) == HEDDLE_SEGMENT_RECORDS);
static_assert(sizeof(Record) == std::size_t{1} << HEDDLE_RECORD_SHIFT);
static_assert(offsetof(Record, when) == HEDDLE_RECORD_WHEN);
static_assert(offsetof(Record, function) == HEDDLE_RECORD_FUNCTION);
static_assert(offsetof(Record, call_site) == HEDDLE_RECORD_CALL_SITE);
static_assert(offsetof(Record, stack_pointer) == HEDDLE_RECORD_STACK_POINTER);
static_assert(kExitBit == std::uint64_t{1} << 63 && kWithin == std::uint64_t{1} << 63,
              "the assembly code sets bit 63");

}  // namespace heddle::trace

extern "C" {

/// Where the quick way has nothing to reserve on, or the clock is not the TSC.
[[gnu::visibility("hidden")]] void heddle_entry_slowly(std::uint64_t within,
                                                       std::uint64_t call_site,
                                                       std::uint64_t stack_pointer,
                                                       std::uint64_t exit) {
  using namespace heddle::trace;
  store_event(within | kWithin, call_site, stack_pointer, exit != 0 ? kExitBit : 0, ticks);
}

/// Where what was reserved has no room.
[[gnu::visibility("hidden")]] void heddle_entry_beyond(std::uint64_t when, std::uint64_t within,
                                                       std::uint64_t call_site,
                                                       std::uint64_t stack_pointer,
                                                       std::uint64_t index,
                                                       const heddle::trace::Segment* segment) {
  using namespace heddle::trace;
  record_beyond(when, within | kWithin, call_site, stack_pointer, index, segment);
}
}
