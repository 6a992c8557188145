#include "bases.hpp"

#include "quiet.hpp"
#include "thread.hpp"
#include "values.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kBaseBytes = 24, kCaptureBytes = 16;

std::uint64_t* at(std::uint64_t address) { return reinterpret_cast<std::uint64_t*>(address); }

std::uint64_t bytes_of_record(std::uint64_t first) {
  if ((first & kCall) != 0) return (first & kExit) != 0 ? 8 : 16;
  return 8 * (first >> 16 & 0xffff);
}

std::uint64_t first_record(const Thread& thread) {
  return reinterpret_cast<std::uint64_t>(thread.run + 1);
}

/// Calls `each` with the bases of the run's records in order; the first is the run's own.
template <typename Each>
void for_each_base(const Thread& thread, Each each) {
  const RunRecord& run = *thread.run;
  each(Base{run.base_ticks >> kTicksBits, run.base_stack, first_record(thread)});
  const std::uint64_t end = thread.buffer.header->position;
  for (std::uint64_t record = first_record(thread); record < end;) {
    const std::uint64_t* const word = at(record);
    record += bytes_of_record(word[0]);
    if (word[0] == first_word(RecordType::kBase, 3, 0)) {
      each(Base{word[1] >> kTicksBits, word[2], record});
    }
  }
}

/// Reads from the records the latest bases before the window's, which is the last.
void remember(Thread& thread) {
  Bases& bases = thread.bases;
  std::uint64_t left = 0;
  for_each_base(thread, [&](const Base&) { ++left; });
  bases.remembered = 0;
  for_each_base(thread, [&](const Base& base) {
    --left;
    if (left > 0 && left <= Bases::kMost) bases.earlier[bases.remembered++] = base;
  });
}

/// With signals blocked.
void discard_if_last(Thread& thread) {
  Bases& bases = thread.bases;
  std::uint64_t& position = thread.buffer.header->position;
  if (position != thread.window.base_end || position == first_record(thread)) return;
  if (bases.remembered == 0) remember(thread);
  const Base& before = bases.earlier[--bases.remembered];
  thread.window.ticks = before.ticks;
  thread.window.base_stack = before.stack;
  thread.window.base_end = before.end;
  ++bases.changes;
  __atomic_store_n(&position, position - kBaseBytes, __ATOMIC_RELEASE);
}

/// Whether the first word of a record is a capture's, or one's of values: it belongs to the record
/// behind it.
bool is_capture(std::uint64_t first) {
  return static_cast<std::uint32_t>(first) == first_word(RecordType::kCapture, 2, 0) ||
         is_values(first);
}

/// Where the captures begin that are the last records; the end where there are none.
std::uint64_t last_captures(const Thread& thread, std::uint64_t end) {
  if (!is_capture(*at(end - kCaptureBytes)) && !is_values(at(end)[-1])) return end;
  // Perhaps these are no record's first words, which only reading from the front tells.
  std::uint64_t begin = end;
  for (std::uint64_t record = thread.window.base_end; record < end;) {
    if (!is_capture(*at(record))) {
      begin = end;
    } else if (begin == end) {
      begin = record;
    }
    record += bytes_of_record(*at(record));
  }
  return begin;
}

/// Bytes of stack that are needed once signals are blocked: GCC 12 takes 40.
constexpr std::size_t kStackTaken = 128;

}  // namespace

void begin_bases(Thread& thread) {
  thread.bases.remembered = 0;
  thread.window.base_end = first_record(thread);
  ++thread.bases.changes;
}

std::uint64_t before_base(Thread& thread) {
  Bases& bases = thread.bases;
  std::uint64_t& position = thread.buffer.header->position;
  const std::uint64_t end = position;
  const std::uint64_t from = last_captures(thread, end);
  if (from != end) __atomic_store_n(&position, from, __ATOMIC_RELEASE);
  discard_if_last(thread);
  if (bases.remembered == Bases::kMost) {
    for (std::uint32_t i = 1; i < Bases::kMost; ++i) bases.earlier[i - 1] = bases.earlier[i];
    --bases.remembered;
  }
  bases.earlier[bases.remembered++] = {thread.window.ticks, thread.window.base_stack,
                                       thread.window.base_end};
  thread.window.base_end = position + kBaseBytes;
  ++bases.changes;
  for (std::uint64_t i = (end - from) / 8; i-- > 0;) at(thread.window.base_end)[i] = at(from)[i];
  return end - from;
}

void discard_last_base(Thread& thread) {
  touch_stack<kStackTaken>();
  const Quiet quiet;
  // A handler may have found no room for its records, and ended the run.
  if (thread.run != nullptr) discard_if_last(thread);
}

}  // namespace heddle::trace
