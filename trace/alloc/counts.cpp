#include "counts.hpp"

#include "../load.hpp"
#include "../note.hpp"
#include "../quiet.hpp"
#include "../text.hpp"

namespace heddle::trace {

constinit Counts* counts = nullptr;
constinit __thread OwnCounts own_counts __attribute__((tls_model("initial-exec"))) = {};
constinit std::uint64_t clock_cost = 0;

namespace {

/// Of all files of this process and its ancestors, so that a forked child, which has its parent's
/// thread-local state, does not count into files that it does not have.
constinit std::uint32_t generation = 0;
/// Of the program, for its children's files.
constinit std::uint32_t first_flags = 0;
/// Ticks that a call takes more because it is counted and timed.
constinit std::uint64_t call_cost = 0;

AllocationEntry* entries(AllocationHeader* header) {
  return reinterpret_cast<AllocationEntry*>(reinterpret_cast<char*>(header) + kHeaderBytes);
}

/// 0 or a negated error. Process lock held.
long make_file(Process& process, unsigned file) {
  Text text = Text(process.path, sizeof process.path) << process.directory << "/allocation-";
  text.decimal(file + 1);
  if (!text.fits()) return -ENAMETOOLONG;
  const std::uint64_t bytes = kHeaderBytes + entries_of(file) * sizeof(AllocationEntry);
  void* const mapped = sys::map_own(process.path, O_CREAT | O_EXCL, bytes);
  if (sys::failed(mapped)) return sys::error_of(mapped);
  auto* const header = static_cast<AllocationHeader*>(mapped);
  header->version = kVersion;
  header->room = entries_of(file);
  header->flags = file == 0 ? first_flags : 0;
  header->clock_cost = clock_cost;
  header->call_cost = call_cost;
  __atomic_store_n(&header->magic, kAllocationMagic, __ATOMIC_RELEASE);
  counts->headers[file] = header;
  process.header->allocation_files = file + 1;
  return 0;
}

/// Makes the first file, or the one after `file`, unless that has been done. Not from within the
/// recorder.
void make_room(unsigned file, bool first) {
  Process* const current = process();
  if (current == nullptr) return;
  const Quiet quiet;
  const Busy busy;
  const Locked locked(current->lock);
  if (current->state == Recording::kNotStarted) process_start(*current);
  if (current->state != Recording::kRunning) counts->impossible = true;
  const bool wanted = first ? counts->generation == 0 : counts->file == file;
  if (wanted && !counts->impossible && !counts->full) {
    const unsigned next = first ? 0 : file + 1;
    const long error = next == kAllocationFiles ? 0 : make_file(*current, next);
    if (error != 0) {
      table_in_trouble(*current, error);
      note_trouble(current->trouble_noted, "allocation is not counted: cannot make a file in",
                   current->directory, error);
    }
    if (error != 0 && first) counts->impossible = true;
    if (next == kAllocationFiles || (error != 0 && !first)) {
      counts->full = true;
      __atomic_fetch_or(&counts->headers[0]->flags, kNoMoreRoom, __ATOMIC_RELAXED);
    }
    if (!counts->impossible && !counts->full) {
      counts->process = current;
      __atomic_store_n(&counts->file, next, __ATOMIC_RELEASE);
      if (first) __atomic_store_n(&counts->generation, ++generation, __ATOMIC_RELEASE);
    }
  }
  if (attached()) local.current = &local.self->window;
}

/// A new entry; null: there is no room.
AllocationEntry* take(std::uint64_t since, Allocated kind) {
  while (!counts->impossible && !counts->full) {
    if (__atomic_load_n(&counts->generation, __ATOMIC_ACQUIRE) == 0) {
      make_room(0, true);
      if (counts->generation == 0) return nullptr;
    }
    const unsigned file = __atomic_load_n(&counts->file, __ATOMIC_ACQUIRE);
    AllocationHeader* const header = counts->headers[file];
    // It does not wrap around: there are fewer threads than numbers beyond the room.
    const std::uint32_t number = __atomic_fetch_add(&header->used, 1, __ATOMIC_RELAXED);
    if (number < header->room) {
      AllocationEntry& entry = entries(header)[number];
      entry.tid = own_counts.tid;
      entry.kind = kind;
      entry.last = since;
      __atomic_store_n(&entry.first, since, __ATOMIC_RELEASE);
      return &entry;
    }
    make_room(file, false);
    if (!counts->full && counts->file == file) return nullptr;  // the recorder is barred
  }
  return nullptr;
}

/// Least of several, so that none is with an interruption.
std::uint64_t measured_clock_cost() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t took = ticks() - before;
    if (took < least) least = took;
  }
  return least;
}

/// The least of several for a call, each of many calls that do nothing.
std::uint64_t measured_call_cost() {
  constexpr int kCalls = 32;
  alignas(64) AllocationEntry scratch{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int round = 0; round < 64; ++round) {
    const std::uint64_t before = ticks();
    for (int i = 0; i < kCalls; ++i) {
      const std::uint64_t since = ticks();
      asm volatile("" : : : "memory");
      add_call(scratch, since, ticks(), 1, i % 2 != 0);
    }
    const std::uint64_t took = (ticks() - before) / kCalls;
    if (took < least) least = took;
  }
  return least;
}

}  // namespace

void count_slowly(std::uint64_t since, std::uint64_t until, std::uint64_t bytes, bool frees) {
  OwnCounts& own = own_counts;
  if (loaded.barred) return;
  if (counts->impossible) {
    Process* const current = process();
    if (current != nullptr) process_uncounted(*current, Counted::kAllocation);
    return;
  }
  if (counts->generation != 0 && counts->process->paused) return;
  const bool has_entry = own.generation != 0 && own.generation == counts->generation;
  // A forked child has another number than its parent.
  if (!has_entry) own.tid = static_cast<std::uint32_t>(sys::tid());
  if (until - since >= kLongAllocation) {
    if (AllocationEntry* const alone = take(since, Allocated::kLongCall); alone != nullptr) {
      return add_call(*alone, since, until, bytes, frees);
    }
  } else if (!has_entry || until >= own.next) {
    if (AllocationEntry* const entry = take(since, Allocated::kStretch); entry != nullptr) {
      own.next = since + stretch_of(counts->file);
      own.entry = entry;
      own.generation = counts->generation;
      return add_call(*entry, since, until, bytes, frees);
    }
  }
  // Without room the latest goes on.
  if (has_entry) return add_call(*own.entry, since, until, bytes, frees);
  if (counts->generation != 0) {
    __atomic_fetch_add(&counts->headers[0]->uncounted, 1, __ATOMIC_RELAXED);
  }
}

bool counts_allocation() { return true; }

void begin_counts(std::uint32_t flags) {
  if (loaded.secure || counts != nullptr) return;
  first_flags = flags;
  auto* const fresh = static_cast<Counts*>(sys::map_wiped_on_fork(sizeof(Counts)));
  if (fresh == nullptr) return;
  choose_clock();
  clock_cost = measured_clock_cost();
  call_cost = measured_call_cost();
  counts = fresh;
  __atomic_store_n(&loaded.allocation, true, __ATOMIC_RELEASE);
  make_room(0, true);
}

}  // namespace heddle::trace
