// Calls of malloc and its like, counted and timed in files that outlive the process.
#pragma once

#include "../process.hpp"
#include "../thread.hpp"
#include "format.hpp"

namespace heddle::trace {

/// In memory that fork wipes: a child counts in files of its own.
struct Counts {
  std::uint32_t generation;  ///< 0: there is no file yet
  std::uint32_t file;        ///< index of the one that has room
  const Process* process;
  AllocationHeader* headers[kAllocationFiles];
  bool full;
  bool impossible;  ///< nothing of this process is recorded, or there was no room for a file
};

/// What the calling thread counts into.
struct OwnCounts {
  AllocationEntry* entry;
  std::uint64_t next;        ///< ticks from which on another entry is to be begun
  std::uint32_t generation;  ///< of the files in which the entry is
  std::uint32_t tid;
  /// The frame of the call that is being timed; 0 = none is. A call within it, as calloc's of
  /// malloc or a signal handler's, is a part of it.
  std::uintptr_t inside;
};

[[gnu::visibility("hidden")]] extern Counts* counts;
[[gnu::visibility("hidden")]] extern __thread OwnCounts own_counts
    __attribute__((tls_model("initial-exec")));
/// Ticks that one reading of the clock takes.
[[gnu::visibility("hidden")]] extern std::uint64_t clock_cost;

/// Makes the first file, with these flags. To be called when the library is loaded.
void begin_counts(std::uint32_t flags);

/// Counts a call that is the first of its thread in a while, or took long.
void count_slowly(std::uint64_t since, std::uint64_t until, std::uint64_t bytes, bool frees);

/// Ticks from which on a call is one of which it is told alone: to leave a processor and to come
/// back takes 3 µs at least, which is 6 to 12 thousand ticks.
inline constexpr std::uint64_t kLongAllocation = 1 << 14;

/// Adds in one instruction without the lock prefix: whole for signal handlers of this thread.
inline void add(std::uint64_t& sum, std::uint64_t more) {
  asm volatile("addq %1, %0" : "+m"(sum) : "er"(more) : "cc");
}

inline void add_call(AllocationEntry& entry, std::uint64_t since, std::uint64_t until,
                     std::uint64_t bytes, bool frees) {
  const std::uint64_t took = until - since;
  add(entry.took, took > clock_cost ? took - clock_cost : 0);
  add(frees ? entry.freed : entry.allocated, 1);
  add(entry.bytes, bytes);
  __atomic_store_n(&entry.last, until, __ATOMIC_RELAXED);
}

/// A call has begun and returned at these ticks.
[[gnu::always_inline]] inline void count_call(std::uint64_t since, std::uint64_t until,
                                              std::uint64_t bytes, bool frees) {
  const Counts& all = *counts;
  const OwnCounts& own = own_counts;
  if (own.generation == __atomic_load_n(&all.generation, __ATOMIC_ACQUIRE) && own.generation != 0 &&
      until < own.next && until - since < kLongAllocation && !all.process->paused) [[likely]] {
    return add_call(*own.entry, since, until, bytes, frees);
  }
  count_slowly(since, until, bytes, frees);
}

}  // namespace heddle::trace
