// What `heddle record --alloc` adds to a trace (docs/trace-format.md, Allocation), as structures.
#pragma once

#include "../format.hpp"

namespace heddle::trace {

inline constexpr std::uint64_t kAllocationMagic = 0x434c4c414c444548;  // "HEDLALLC"

/// What an entry is about.
enum class Allocated : std::uint32_t {
  kStretch = 1,  ///< the calls of a thread in a stretch of time
  kLongCall,     ///< one call, which is in no stretch: its thread may have been off its processor
};

/// Calls of malloc and its like by one thread. All entries of a process together have each call
/// once.
struct alignas(64) AllocationEntry {
  std::uint64_t first;      ///< ticks when the first of them began; 0: nothing is here
  std::uint64_t last;       ///< ticks when the latest of them returned
  std::uint64_t took;       ///< ticks in all of them, without what it costs to read the clock
  std::uint64_t allocated;  ///< calls that give memory
  std::uint64_t freed;      ///< calls that take it back
  std::uint64_t bytes;      ///< asked for
  std::uint32_t tid;        ///< the kernel's number of the thread
  Allocated kind;
  std::uint64_t reserved;
};
static_assert(sizeof(AllocationEntry) == 64 && offsetof(AllocationEntry, tid) == 48);

/// Flags of the first file.
inline constexpr std::uint32_t kOtherMalloc = 1;  ///< the program calls a malloc in front of ours
inline constexpr std::uint32_t kOtherNew = 2;     ///< operator new is not the C++ library's
inline constexpr std::uint32_t kNoMoreRoom = 4;   ///< each thread's last entry goes on

/// The file `allocation-<n>`: a header, then entries.
struct AllocationHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t room;   ///< entries
  std::uint32_t used;   ///< entries that were begun; more than there are: the next file has them
  std::uint32_t flags;  ///< of the first file
  std::uint64_t clock_cost;  ///< ticks that one reading of the clock takes
  std::uint64_t uncounted;   ///< calls for which there was no room; of the first file
  std::uint64_t call_cost;   ///< ticks that counting and timing a call takes beside it
  char padding[4048];
};
static_assert(sizeof(AllocationHeader) == kHeaderBytes);

/// The first file is small, as each process has one.
inline constexpr unsigned kAllocationFiles = 12;
inline constexpr unsigned kFirstEntryBits = 8;
/// Files whose stretches are the shortest: those that a process soon fills.
inline constexpr unsigned kFineFiles = 3;

/// Entries of the file with this index.
constexpr std::uint32_t entries_of(unsigned file) { return 1u << (kFirstEntryBits + file); }

/// Ticks after which a thread begins another stretch, in the file with this index: what was
/// recorded for long is known less finely, and a later file lasts four times as long as the one
/// before.
constexpr std::uint64_t stretch_of(unsigned file) {
  return std::uint64_t{1} << (file < kFineFiles ? 21 : 22 + file - kFineFiles);
}

}  // namespace heddle::trace
