// One thread's file: a header page and records behind it, mapped, grown by chunks. The record
// writer.
#pragma once

#include "format.hpp"
#include "sys.hpp"

namespace heddle::trace {

/// A stretch of the file's records that is mapped at one place. The hook works on one of these:
///   index = reserve(count); if (index - first < capacity) records[index - first] = …
/// Invariants that make this safe when a signal handler interrupts between any two of these steps,
/// fills what is left and grows the file: `first` and `records` of a published segment never
/// change, `capacity` only grows, and nothing is unmapped before the thread ends.
struct Segment {
  std::uint64_t* count;  ///< where to reserve; null: take the slow path first
  std::uint64_t first;
  std::uint64_t capacity;
  Record* records;
};

struct ThreadFile {
  static constexpr std::uint64_t kFirstChunk = 64 * 1024;
  static constexpr std::uint64_t kChunk = 1024 * 1024;
  /// Segments are of 1, 2, 4 … MiB, each one mapping, so 32 of them are never used up.
  static constexpr unsigned kSegments = 32;

  ThreadHeader* header;
  std::uint64_t header_map_bytes;
  Segment segments[kSegments];
  std::uint64_t reserved[kSegments];  ///< records for which the segment is mapped, file or none
  unsigned used;
  bool full;         ///< it could not grow: from here on its events are dropped
  Segment dropping;  ///< used once the file cannot grow: no capacity, reserves on the header's
                     ///< dropped count
  char path[4224];

  /// Makes the file `path` (already filled in) with room for the first chunk. 0 or a negated error;
  /// then nothing is left behind.
  [[nodiscard]] long create(std::uint32_t tid);

  /// Maps the file again after close(), for calls made by destructors that run after ours.
  [[nodiscard]] long reopen();

  /// Adds one chunk of room. 0 or a negated error.
  [[nodiscard]] long grow();

  /// Stores a record at a reserved index; false if the file has no room there.
  bool store(std::uint64_t index, const Record& record);

  /// Unmaps everything; the thread has ended.
  void close();

 private:
  [[nodiscard]] long map_more(long fd);
};

/// Fills a slot; the first word last, which is what makes the record count after a kill.
inline void fill(Record& slot, const Record& record) {
  slot.function = record.function;
  slot.call_site = record.call_site;
  slot.stack_pointer = record.stack_pointer;
  __atomic_store_n(&slot.when, record.when, __ATOMIC_RELEASE);
}

}  // namespace heddle::trace
