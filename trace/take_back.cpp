#include "take_back.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kEnterBytes = 16, kWideEnterBytes = 40, kBaseBytes = 24, kCaptureBytes = 16;

/// The window's ticks when a base record was taken back: the next event appends another. What is
/// left of the records before it has the latest of the earlier bases.
constexpr std::uint64_t kNoTicks = ~std::uint64_t{0};

const std::uint64_t* at(std::uint64_t address) {
  return reinterpret_cast<const std::uint64_t*>(address);
}

bool is_base(const std::uint64_t* word, const Base& base) {
  return word[0] == first_word(RecordType::kBase, 3, 0) && word[1] >> kTicksBits == base.ticks &&
         word[2] == base.stack;
}

std::uint64_t first_record(const Thread& thread) {
  return reinterpret_cast<std::uint64_t>(thread.run + 1);
}

/// The base of the last record that is no base itself, if it is known, with the number of earlier
/// bases in front of it.
struct Tail {
  std::uint64_t end;  ///< of that record
  Base base;
  bool behind_base;
  bool known;
};

Tail tail_of(const Thread& thread, std::uint64_t end) {
  std::uint32_t earlier = thread.earlier_bases;
  Tail tail{end, {thread.window.ticks, thread.window.base_stack}, false, true};
  const auto previous = [&] {
    tail.known = earlier > 0;
    if (tail.known) tail.base = thread.earlier[--earlier];
  };
  if (tail.base.ticks == kNoTicks) previous();
  const std::uint64_t first = first_record(thread);
  if (tail.known && end >= first + kBaseBytes && is_base(at(end - kBaseBytes), tail.base)) {
    tail.behind_base = true;
    tail.end -= kBaseBytes;
    previous();
  }
  tail.known = tail.known && tail.end >= first + kEnterBytes;
  return tail;
}

std::uint32_t low(std::uint64_t address) { return static_cast<std::uint32_t>(address); }

/// Without the capture of an enter of this function, if it is what ends there.
std::uint64_t before_capture(const Thread& thread, std::uint64_t end, std::uint32_t function) {
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
bool is_enter_of(const std::uint64_t* word, const Base& base, const Call& exit, bool tail) {
  const bool entry = (exit.kind & kEntryWay) != 0;
  if ((word[0] & 0xf) != (exit.kind & ~kExit) || low(word[1]) != low(exit.call_site)) return false;
  const std::uint64_t pointer =
      base.stack + (word[0] >> kStackShift & ((1u << kStackBits) - 1)) * kStackUnit;
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

namespace {

/// Moves the position, and takes the base behind the record out of force. False: a handler has
/// recorded meanwhile.
bool move_back(Thread& thread, std::uint64_t end, const Tail& last, std::uint64_t seen_ticks) {
  std::uint64_t& position = thread.buffer.header->position;
  std::uint64_t& ticks = thread.window.ticks;
  std::uint64_t begin = last.end - kEnterBytes;
  begin = before_capture(thread, begin, static_cast<std::uint32_t>(at(begin)[1] >> 32));
  if (!last.behind_base) return arch::replace(&position, end, begin);
  if (seen_ticks == kNoTicks) {
    if (!arch::replace(&position, end, begin)) return false;
    arch::decrement(&thread.earlier_bases);
    return true;
  }
  // First the ticks: a handler between the two must not rely on a base that is gone.
  if (!arch::replace(&ticks, seen_ticks, kNoTicks)) return false;
  if (arch::replace(&position, end, begin)) return true;
  (void)arch::replace(&ticks, kNoTicks, seen_ticks);
  return false;
}

}  // namespace

bool take_back(Thread& thread, const Call& exit, bool tail, std::uint64_t now,
               std::uint64_t min_ticks) {
  while (thread.run != nullptr) {
    const std::uint64_t seen = __atomic_load_n(&thread.window.ticks, __ATOMIC_RELAXED);
    const std::uint64_t end = __atomic_load_n(&thread.buffer.header->position, __ATOMIC_RELAXED);
    if (const std::uint64_t* const wide = at(end - kWideEnterBytes);
        end >= first_record(thread) + kWideEnterBytes && is_wide_enter_of(wide, exit, tail)) {
      if (now - wide[1] >= min_ticks) return false;
      const auto begin = before_capture(thread, end - kWideEnterBytes, low(wide[3]));
      if (arch::replace(&thread.buffer.header->position, end, begin)) return true;
      continue;
    }
    const Tail last = tail_of(thread, end);
    if (!last.known) return false;
    const std::uint64_t* const word = at(last.end - kEnterBytes);
    if (!is_enter_of(word, last.base, exit, tail)) return false;
    if (now - (last.base.ticks << kTicksBits | word[0] >> kTicksShift) >= min_ticks) return false;
    if (move_back(thread, end, last, seen)) return true;
  }
  return false;
}

void take_back_capture(Thread& thread, std::uint64_t function) {
  if (thread.run == nullptr) return;
  std::uint64_t& position = thread.buffer.header->position;
  const std::uint64_t end = __atomic_load_n(&position, __ATOMIC_RELAXED);
  const std::uint64_t begin = before_capture(thread, end, low(function));
  // Where a handler has recorded meanwhile it is no longer the last, and stays.
  if (begin != end) (void)arch::replace(&position, end, begin);
}

void before_base(Thread& thread) {
  const Base now{thread.window.ticks, thread.window.base_stack};
  if (now.ticks == kNoTicks) return;
  std::uint64_t& position = thread.buffer.header->position;
  const std::uint64_t first = first_record(thread);
  if (position >= first + kBaseBytes && is_base(at(position - kBaseBytes), now)) {
    // Nothing needs it any more.
    __atomic_store_n(&position, position - kBaseBytes, __ATOMIC_RELEASE);
    return;
  }
  if (thread.earlier_bases == kEarlierBases) {
    for (std::uint32_t i = 1; i < kEarlierBases; ++i) thread.earlier[i - 1] = thread.earlier[i];
    --thread.earlier_bases;
  }
  thread.earlier[thread.earlier_bases++] = now;
}

}  // namespace heddle::trace
