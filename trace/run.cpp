#include "run.hpp"

#include "coroutines.hpp"
#include "filter.hpp"
#include "values.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kHookRecordBytes = 16;
constexpr std::uint64_t kStackReach = kStackUnit << kStackBits;
/// A base and a wide record: no event needs more.
constexpr std::uint64_t kMostForCall = 64;

std::uint64_t* at(std::uint64_t address) { return reinterpret_cast<std::uint64_t*>(address); }

/// From here on the words before `end` count.
void commit(Thread& thread, const std::uint64_t* end) {
  __atomic_store_n(&thread.buffer.header->position, reinterpret_cast<std::uint64_t>(end),
                   __ATOMIC_RELEASE);
}

/// A window of 32 MiB around the stack pointer: most threads never leave it.
std::uint64_t base_around(std::uint64_t stack_pointer) {
  const std::uint64_t aligned = stack_pointer & ~(kStackUnit - 1);
  return aligned < kStackReach / 2 ? 0 : aligned - kStackReach / 2;
}

bool in_reach(const Window& window, std::uint64_t stack_pointer) {
  return stack_pointer - window.base_stack < kStackReach;
}

void set_base(Window& window, std::uint64_t now, std::uint64_t stack_pointer) {
  window.ticks = now >> kTicksBits;
  if (!in_reach(window, stack_pointer)) window.base_stack = base_around(stack_pointer);
}

void append_base(Thread& thread, std::uint64_t now, std::uint64_t stack_pointer) {
  const std::uint64_t captures = filter.min_ticks != 0 ? before_base(thread) : 0;
  set_base(thread.window, now, stack_pointer);
  std::uint64_t* word = at(thread.buffer.header->position);
  *word++ = first_word(RecordType::kBase, 3, 0);
  *word++ = now;
  *word++ = thread.window.base_stack;
  commit(thread, word + captures / sizeof *word);
}

void append_short(Thread& thread, const Call& call, std::uint64_t now) {
  std::uint64_t* word = at(thread.buffer.header->position);
  const bool exit = (call.kind & kExit) != 0;
  std::uint64_t first = call.kind | now << kTicksShift |
                        (call.stack_pointer - thread.window.base_stack) / kStackUnit << kStackShift;
  if (exit && (call.kind & kEntryWay) == 0) {
    first |= (call.function >> 4 & ((1 << kCalleeBits) - 1)) << kCalleeShift;
  }
  *word++ = first;
  if (!exit) *word++ = call.function << 32 | (call.call_site & 0xffffffff);
  commit(thread, word);
}

void append_wide(Thread& thread, const Call& call, std::uint64_t now) {
  std::uint64_t* word = at(thread.buffer.header->position);
  const std::uint64_t way = (call.kind & kEntryWay) != 0 ? 1 : 0;
  const bool exit = (call.kind & kExit) != 0;
  *word++ =
      exit ? first_word(RecordType::kWideExit, 4, way) : first_word(RecordType::kWideEnter, 5, way);
  *word++ = now;
  *word++ = call.stack_pointer;
  *word++ = exit && way == 1 ? 0 : call.function;
  if (!exit) *word++ = call.call_site;
  commit(thread, word);
}

void begin_run(Process& process, Thread& thread, std::uint64_t now, std::uint64_t stack_pointer) {
  set_base(thread.window, now, stack_pointer);
  auto* const run = reinterpret_cast<RunRecord*>(thread.buffer.header->position);
  RunRecord& about = thread.about;
  about.word = RunRecord::first_word(0);
  ++about.number;
  about.base_ticks = now;
  about.base_stack = thread.window.base_stack;
  *run = about;
  thread.run = run;
  thread.buffer.header->thread = about.thread;
  begin_bases(thread);
  thread.window.limit = thread.buffer.block_end() - kHookRecordBytes;
  auto* word = reinterpret_cast<std::uint64_t*>(run + 1);
  // The flight recorder may lose the blocks before, with what was announced there.
  if (process.flight != 0 && thread.window.strand != 0) {
    *word++ = first_word(RecordType::kStrand, 3, static_cast<std::uint64_t>(StrandEvent::kSwitch));
    *word++ = now;
    *word++ = thread.window.strand;
  }
  commit(thread, word);
}

/// Makes room for so many bytes, in a new block if need be.
long make_room(Process& process, Thread& thread, std::uint64_t bytes, std::uint64_t now,
               std::uint64_t stack_pointer) {
  if (thread.buffer.header->position + bytes <= thread.buffer.block_end()) return 0;
  end_run(thread);
  if (const long error = thread.buffer.next_block(process); error != 0) return error;
  begin_run(process, thread, now, stack_pointer);
  return 0;
}

/// Appends what `write` puts at the next word, given the time, and of which it returns the end.
template <typename Write>
long append_with(Process& process, Thread& thread, std::uint64_t bytes, std::uint64_t stack_pointer,
                 Write write) {
  const std::uint64_t now = ticks();
  const long error = make_room(process, thread, bytes, now, stack_pointer);
  if (error != 0) return error;
  commit(thread, write(at(thread.buffer.header->position), now));
  return 0;
}

/// The same on the stack that is in use.
template <typename Write>
long append_here(Process& process, Thread& thread, std::uint64_t bytes, Write write) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  return append_with(process, thread, bytes, here, write);
}

/// A record of three words: the first's upper half, the time, a number.
long append_words(Process& process, Thread& thread, RecordType type, std::uint64_t more,
                  std::uint64_t number) {
  return append_record(process, thread, first_word(type, 3, more), number);
}

}  // namespace

long open_run(Process& process, Thread& thread, std::uint64_t stack_pointer) {
  const std::uint64_t now = ticks();
  thread.run = nullptr;
  if (thread.buffer.header->position + sizeof(RunRecord) + kMostForCall >
      thread.buffer.block_end()) {
    if (const long error = thread.buffer.next_block(process); error != 0) return error;
  }
  begin_run(process, thread, now, stack_pointer);
  return 0;
}

void end_run(Thread& thread) {
  if (thread.run == nullptr) return;
  const auto begin = reinterpret_cast<std::uint64_t>(thread.run);
  thread.run->word = RunRecord::first_word(thread.buffer.header->position - begin);
  thread.run = nullptr;
}

long append_call(Process& process, Thread& thread, const Call& call) {
  const std::uint64_t now = ticks();
  const long error = make_room(process, thread, kMostForCall, now, call.stack_pointer);
  if (error != 0) return error;
  const bool wide = process.modules.overlap || call.stack_pointer % kStackUnit != 0;
  if (wide) {
    append_wide(thread, call, now);
    return 0;
  }
  if (now >> kTicksBits != thread.window.ticks || !in_reach(thread.window, call.stack_pointer)) {
    append_base(thread, now, call.stack_pointer);
  }
  append_short(thread, call, now);
  return 0;
}

long append_gap(Process& process, Thread& thread, GapReason why, std::uint64_t events) {
  return append_words(process, thread, RecordType::kGap, static_cast<std::uint64_t>(why), events);
}

long append_strand(Process& process, Thread& thread, StrandEvent what, std::uint64_t strand) {
  return append_words(process, thread, RecordType::kStrand, static_cast<std::uint64_t>(what),
                      strand);
}

long append_making(Process& process, Thread& thread, Making what, std::uint32_t number) {
  return append_here(process, thread, kMostForCall, [&](auto* word, std::uint64_t now) {
    *word++ = first_word(RecordType::kMaking, 5, static_cast<std::uint64_t>(what));
    *word++ = now;
    *word++ = number;
    // With its low bits gone, the last two words are never taken for a short call's enter.
    *word++ = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & ~std::uint64_t{15};
    *word++ = 0;
    return word;
  });
}

long append_stack(Process& process, Thread& thread, const MadeStack& made) {
  return append_with(process, thread, kMostForCall, made.by, [&](auto* word, std::uint64_t now) {
    *word++ = first_word(RecordType::kStackMade, 5, 0);
    *word++ = now;
    *word++ = made.low;
    // With its low bits gone, the last two words are never taken for a short call's enter.
    *word++ = made.by & ~std::uint64_t{15};
    *word++ = made.high;
    return word;
  });
}

long append_record(Process& process, Thread& thread, std::uint64_t first, std::uint64_t third) {
  return append_here(process, thread, kMostForCall, [=](auto* word, std::uint64_t now) {
    *word++ = first;
    *word++ = now;
    *word++ = third;
    return word;
  });
}

long append_all(Process& process, Thread& thread, const std::uint64_t* words, std::uint64_t count) {
  return append_here(process, thread, count * 8, [=](auto* word, std::uint64_t now) {
    for (std::uint64_t i = 0; i < count; ++i) *word++ = i == 1 ? now : words[i];
    return word;
  });
}

long append_frame(Process& process, Thread& thread, const FrameRecord& record) {
  return append_here(process, thread, kMostForCall, [&](auto* word, std::uint64_t) {
    *word++ = record.first;
    *word++ = record.second;
    return word;
  });
}

long append_values(Process& process, Thread& thread, const std::uint64_t* words,
                   std::uint64_t count) {
  return append_here(process, thread, count * 8, [=](auto* word, std::uint64_t) {
    volatile std::uint64_t* const to = word;
    for (std::uint64_t i = 0; i < count; ++i) to[i] = words[i];
    return word + count;
  });
}

long append_text(Process& process, Thread& thread, RecordType type, std::uint64_t strand,
                 const char* text, std::uint64_t stack) {
  constexpr std::uint64_t kMostText = 4000;
  std::uint64_t size = 0;
  while (size < kMostText && text[size] != '\0') ++size;
  const std::uint64_t text_end = 3 + (size + 7) / 8;
  const std::uint64_t words = text_end + (stack != 0 ? 1 : 0);
  return append_here(process, thread, words * 8, [=](auto* word, std::uint64_t now) {
    *word++ = first_word(type, words, size);
    *word++ = now;
    *word++ = strand;
    auto* const end = word + (text_end - 3);
    if (size > 0) end[-1] = 0;
    auto* const to = reinterpret_cast<char*>(word);
    for (std::uint64_t i = 0; i < size; ++i) to[i] = text[i];
    if (stack != 0) *end = stack;
    return word + (words - 3);
  });
}

}  // namespace heddle::trace
