#include "discard_enter.hpp"

#include "values.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kEnterBytes = 16, kWideEnterBytes = 40, kCaptureBytes = 16;

const std::uint64_t* at(std::uint64_t address) {
  return reinterpret_cast<const std::uint64_t*>(address);
}

std::uint64_t first_record(const Thread& thread) {
  return reinterpret_cast<std::uint64_t>(thread.run + 1);
}

std::uint32_t low(std::uint64_t address) { return static_cast<std::uint32_t>(address); }

/// Without the arguments or the capture of an enter of this function, if they are what ends there.
std::uint64_t before_capture(const Thread& thread, std::uint64_t end, std::uint32_t function) {
  if (const std::uint64_t last = at(end)[-1]; is_values(last) && last >> 32 == function) {
    const std::uint64_t from = end - 8 * (last >> 16 & 0xffff);
    if (from >= first_record(thread) && from < end && at(from)[0] == last) end = from;
  }
  const std::uint64_t begin = end - kCaptureBytes;
  if (begin < first_record(thread)) return end;
  return at(begin)[0] == first_word(RecordType::kCapture, 2, function) ? begin : end;
}

/// Whether an enter with this stack pointer can have the exit.
bool is_around(std::uint64_t pointer, const Call& exit, bool tail) {
  if ((exit.kind & kEntryWay) != 0) return pointer == exit.stack_pointer;
  return tail ? pointer < exit.stack_pointer : pointer >= exit.stack_pointer;
}

/// Whether a record is the enter that belongs to an exit; no other record looks like it.
bool is_enter_of(const std::uint64_t* word, const Window& window, const Call& exit, bool tail) {
  const bool entry = (exit.kind & kEntryWay) != 0;
  if ((word[0] & 0xf) != (exit.kind & ~kExit) || low(word[1]) != low(exit.call_site)) return false;
  const std::uint64_t pointer =
      window.base_stack + (word[0] >> kStackShift & ((1u << kStackBits) - 1)) * kStackUnit;
  return (entry || word[1] >> 32 == low(exit.function)) && is_around(pointer, exit, tail);
}

/// The same for one with whole addresses.
bool is_wide_enter_of(const std::uint64_t* word, const Call& exit, bool tail) {
  const bool entry = (exit.kind & kEntryWay) != 0;
  return word[0] == first_word(RecordType::kWideEnter, 5, entry ? 1 : 0) &&
         (entry || word[3] == exit.function) && word[4] == exit.call_site &&
         is_around(word[2], exit, tail);
}

}  // namespace

bool discard_enter(Thread& thread, const Call& exit, bool tail, std::uint64_t now,
                   std::uint64_t min_ticks) {
  while (thread.run != nullptr) {
    const std::uint32_t seen = thread.bases.look();
    const std::uint64_t end = __atomic_load_n(&thread.buffer.header->position, __ATOMIC_RELAXED);
    // In front of the first record is the run's, which is longer than any that is looked for.
    if (const std::uint64_t* const wide = at(end - kWideEnterBytes);
        is_wide_enter_of(wide, exit, tail) && end >= first_record(thread) + kWideEnterBytes) {
      if (now >= wide[1] + min_ticks) return false;
      const auto begin = before_capture(thread, end - kWideEnterBytes, low(wide[3]));
      if (arch::replace(&thread.buffer.header->position, end, begin)) return true;
      continue;
    }
    if (end == thread.window.base_end && end != first_record(thread)) {
      discard_last_base(thread);
      continue;
    }
    const Window& window = thread.window;
    const std::uint64_t* const word = at(end - kEnterBytes);
    const bool is_short = is_enter_of(word, window, exit, tail) &&
                          end >= first_record(thread) + kEnterBytes &&
                          now < (window.ticks << kTicksBits | word[0] >> kTicksShift) + min_ticks;
    // If a handler has appended a base meanwhile, the enter was completed by a base that is not its
    // own: by a later one, so that the call seems to begin after its end.
    if (thread.bases.look() != seen) continue;
    if (!is_short) return false;
    const std::uint64_t begin =
        before_capture(thread, end - kEnterBytes, static_cast<std::uint32_t>(word[1] >> 32));
    if (arch::replace(&thread.buffer.header->position, end, begin)) return true;
  }
  return false;
}

void discard_capture(Thread& thread, std::uint64_t function) {
  if (thread.run == nullptr) return;
  std::uint64_t& position = thread.buffer.header->position;
  std::uint64_t end, begin;
  do {
    end = __atomic_load_n(&position, __ATOMIC_RELAXED);
    begin = before_capture(thread, end, low(function));
    // A capture stays where a handler's records stay behind it.
  } while (begin != end && !arch::replace(&position, end, begin));
}

}  // namespace heddle::trace
