#include "buffer.hpp"

#include <linux/futex.h>
#include <sys/uio.h>

#include "process.hpp"
#include "text.hpp"

namespace heddle::trace {

namespace {

/// Rooms are told in units of kBlockUnit.
constexpr std::uint32_t units_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(bytes / kBlockUnit);
}
constexpr std::uint32_t kWholeSlot = units_of(kSlotBytes);

/// Room of a buffer's first blocks. The buffers of a crowd, many threads at once, of which most do
/// little, begin with less: two thousand of them take 57 MB. Other programs' threads seldom record
/// less than the larger room, and each smaller block is one more way through the slow path.
constexpr std::uint32_t kFirst = units_of(64 << 10), kFirstOfCrowd = units_of(12 << 10);
constexpr std::uint32_t kCrowd = 32;
/// A block has at most so many times the room of the one before it.
constexpr std::uint32_t kGrowth = 16;

/// A slot's zeros, to be written by one system call: large writes give the page cache large folios,
/// of which each takes one page fault when it is mapped. They are a few pages again and again,
/// because the kernel reads each of its pages by page faults first: for a whole slot of zeros these
/// took five times as long as the writing.
constinit const char zeros[16 << 10] = {};
constinit const struct Zeros {
  constexpr Zeros() {
    for (iovec& part : parts) part = {const_cast<char*>(zeros), sizeof zeros};
  }
  iovec parts[kSlotBytes / sizeof zeros] = {};
} zero_slot;

/// A flight recorder's where there are no addresses for more.
constexpr std::uint32_t kFewestInFlight = 2;

/// With a collector: one to fill while the collector empties the other. Without one a full block is
/// written at once. More slots would only be colder memory.
constexpr std::uint32_t kSlotsWithCollector = 2, kSlotsAlone = 1;

// Clang has no __atomic_load_n() and the like for enumerations.
SlotState state(const Slot& slot) {
  SlotState now;
  __atomic_load(&slot.state, &now, __ATOMIC_ACQUIRE);
  return now;
}
void set_state(Slot& slot, SlotState to) { __atomic_store(&slot.state, &to, __ATOMIC_RELEASE); }

void ring(Control* control) {
  if (control == nullptr) return;
  if (__atomic_exchange_n(&control->bell, 1, __ATOMIC_ACQ_REL) == 0) {
    arch::syscall(SYS_futex, &control->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

std::uint32_t most_slots(const Process& process) {
  if (process.flight == 0) return process.control != nullptr ? kSlotsWithCollector : kSlotsAlone;
  return kMostSlots;
}

/// The room of a block of a thread that records much. A flight recorder's is small enough for a
/// thread to lose little at a time.
std::uint32_t block_units(const Process& process) {
  if (process.flight == 0) return kWholeSlot;
  const std::uint64_t units = process.flight / 32 / (kFirst * kBlockUnit) * kFirst;
  return static_cast<std::uint32_t>(units < kFirst       ? kFirst
                                    : units > kWholeSlot ? kWholeSlot
                                                         : units);
}

/// Notes that a flight recorder gives up events before it has the room that it may take, and why, a
/// negated error; the first reason stands.
void flight_is_short(Process& process, long error) {
  if (process.flight == 0) return;
  std::uint32_t none = 0;
  const auto why = static_cast<std::uint32_t>(-error);
  __atomic_compare_exchange_n(&process.header->flight_trouble, &none, why, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

}  // namespace

/// One of the buffer's two files: `buffer-<number>` or `events-<number>`.
long Buffer::open(const Process& process, const char* name, int flags) {
  Text text = Text(path, sizeof path) << process.directory << name;
  text.decimal(number);
  return text.fits() ? sys::open_own(path, flags, 0600) : -ENAMETOOLONG;
}

long Buffer::create(Process& process) {
  number = process.header->buffers + 1;
  // What `heddle record` has made ready has room in two slots, and needs none between the first
  // calls.
  const bool ready = process.spare && number == 1;
  const long fd = open(process, "/buffer-", O_RDWR | O_CREAT | (ready ? 0 : O_EXCL));
  if (fd < 0) return fd;
  const std::uint32_t first = number > kCrowd ? kFirstOfCrowd : kFirst;
  const std::uint64_t first_bytes = kHeaderBytes + first * kBlockUnit;
  long error = sys::allocate(fd, 0, ready ? kHeaderBytes + 2 * kSlotBytes : first_bytes);
  if (error == 0) {
    most = most_slots(process);
    // Mapped far beyond the file's end: the file grows into the mapping.
    mapped = kHeaderBytes + most * kSlotBytes;
    void* memory = sys::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    // An address space limit.
    if (sys::failed(memory) && process.flight != 0) {
      most = kFewestInFlight;
      mapped = kHeaderBytes + most * kSlotBytes;
      memory = sys::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    }
    if (sys::failed(memory)) {
      most = 1;
      mapped = first_bytes;
      memory = sys::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    }
    if (sys::failed(memory)) {
      error = sys::error_of(memory);
    } else {
      header = static_cast<BufferHeader*>(memory);
    }
  }
  sys::close(fd);
  if (error != 0) {
    sys::unlink(path);
    return error;
  }
  // A child makes its own; and whether the file is mapped tells whether its process lives.
  sys::madvise(header, mapped, MADV_DONTFORK);
  sys::madvise(header, first_bytes, MADV_POPULATE_WRITE);
  process.header->buffers = number;
  __atomic_fetch_add(&process.flight_used, first * kBlockUnit, __ATOMIC_RELAXED);
  units[0] = ready && mapped > first_bytes ? kWholeSlot : first;
  header->version = kVersion;
  header->slots = 1;
  header->address = reinterpret_cast<std::uint64_t>(header);
  // A second slot while we still can: a program that gives up its rights, its root directory or its
  // descriptors can extend no file, but the collector can empty one slot while the other is filled.
  if (process.control != nullptr && most > 1) {
    if (ready) {
      units[1] = kWholeSlot;
      fresh[1] = true;
      header->slots = 2;
    } else if (extend(process, 1, first, Use::kPerhaps) == 0) {
      header->slots = 2;
    }
  }
  begin_block(process, 0);
  __atomic_store_n(&header->magic, kBufferMagic, __ATOMIC_RELEASE);
  return 0;
}

void Buffer::begin_block(Process& process, std::uint32_t index) {
  Slot& slot = header->slot[index];
  const std::uint64_t room = units[index] * kBlockUnit;
  slot.used = 0;
  slot.number = __atomic_fetch_add(&process.header->blocks, 1, __ATOMIC_RELAXED);
  const std::uint64_t address = slot_address(index);
  if (fresh[index]) {
    // All its page faults at once; Linux before 5.14 takes them one by one.
    sys::madvise(reinterpret_cast<void*>(address), room, MADV_POPULATE_WRITE);
    fresh[index] = false;
  }
  *reinterpret_cast<BlockHeader*>(address) = {
      kBlockMagic, static_cast<std::uint32_t>(room), 0, slot.number, {}};
  // While the slot is free, neither the collector nor a reader looks at the position within it.
  __atomic_store_n(&header->position, address + sizeof(BlockHeader), __ATOMIC_RELEASE);
  set_state(slot, SlotState::kFilling);
  current = index;
}

void Buffer::end_block() {
  Slot& slot = header->slot[current];
  if (state(slot) != SlotState::kFilling) return;  // it failed before
  const std::uint64_t address = slot_address(current);
  slot.used = static_cast<std::uint32_t>(header->position - address);
  reinterpret_cast<BlockHeader*>(address)->used = slot.used;
  set_state(slot, SlotState::kFull);
}

long Buffer::next_block(Process& process) {
  end_block();
  // Nobody takes a flight recorder's blocks.
  if (process.flight == 0) ring(process.control);
  std::uint32_t slot = 0;
  if (const long error = take_slot(process, slot); error != 0) return error;
  begin_block(process, slot);
  return 0;
}

/// Gives a slot, a free one, blocks of the file, up to `to` units.
long Buffer::extend(Process& process, std::uint32_t slot, std::uint32_t to, Use use) {
  const long fd = open(process, "/buffer-", O_RDWR);
  if (fd < 0) return fd;
  const std::uint64_t start = kHeaderBytes + slot * kSlotBytes;
  const std::uint64_t had = units[slot] * kBlockUnit;
  const std::uint64_t wanted = to * kBlockUnit;
  const long error = sys::allocate(fd, start + had, start + wanted);
  // Page faults alone would do, but to a file system on a disk each is an event: with its pages
  // there already, in one write, room costs a quarter (ext4: 0.1 ms a MiB).
  if (error == 0 && use == Use::kSoon && !sys::in_memory(fd)) {
    // What is not written, if the disk is full, is page faults.
    arch::syscall(SYS_pwritev, fd, zero_slot.parts, wanted / sizeof zeros, start, 0);
  }
  sys::close(fd);
  if (error != 0) return error;
  units[slot] = to;
  fresh[slot] = true;
  return 0;
}

/// Gives a slot room for the block after the current one, if that may be. If not, what there is
/// must do.
bool Buffer::grow(Process& process, std::uint32_t slot) {
  const std::uint32_t most_units = block_units(process), grown = kGrowth * units[current];
  const std::uint32_t wanted = grown < most_units ? grown : most_units;
  if (units[slot] >= wanted) return true;
  if (kHeaderBytes + (slot + 1) * kSlotBytes > mapped) return false;
  const std::uint64_t more = (wanted - units[slot]) * kBlockUnit;
  if (process.flight != 0) {
    // Two blocks a thread there must be: the one that is given up, and the one before it.
    const std::uint64_t used = __atomic_add_fetch(&process.flight_used, more, __ATOMIC_RELAXED);
    if (used > process.flight && slot > 1) {
      __atomic_fetch_sub(&process.flight_used, more, __ATOMIC_RELAXED);
      return false;
    }
  }
  const long error = extend(process, slot, wanted, Use::kSoon);
  if (error == 0) return true;
  flight_is_short(process, error);
  mapped = kHeaderBytes + slot * kSlotBytes;  // not tried again
  return false;
}

bool Buffer::find_free(std::uint32_t& found) const {
  for (found = 0; found < header->slots; ++found) {
    if (state(header->slot[found]) == SlotState::kFree) return true;
  }
  return false;
}

/// Waits for the collector, which runs only when a processor is idle: on a busy machine that takes
/// seconds. Not for ever, because it may have been killed: some ten seconds, and 10 ms from then
/// on unless it answers again. Not where it cannot copy either, as where the trace was removed,
/// nor where the recording has ended.
bool Buffer::wait_for_free(Process& process) const {
  const Control& control = *process.control;
  const timespec short_pause{0, 100'000}, pause{0, 1'000'000};
  std::uint32_t found;
  for (int i = 0; i < 10'000 && header->slots > 1; ++i) {
    if (find_free(found)) return true;
    const auto is_set = [](const std::uint32_t& word) {
      return __atomic_load_n(&word, __ATOMIC_RELAXED) != 0;
    };
    if (is_set(control.stuck) || is_set(control.ended)) return false;
    if (!is_set(control.bell)) {
      process.unanswered = false;
    } else if (process.unanswered && i >= 100) {
      return false;
    }
    arch::syscall(SYS_nanosleep, i < 100 ? &short_pause : &pause, nullptr);
  }
  process.unanswered = true;
  return false;
}

/// The slot to empty: of a flight recorder the oldest block's, which is given up; else that of the
/// block just filled, which is written from the processor's caches. `kMostSlots` if none is full.
std::uint32_t Buffer::full_slot(const Process& process) const {
  std::uint32_t found = kMostSlots;
  for (std::uint32_t i = 0; i < header->slots; ++i) {
    if (state(header->slot[i]) != SlotState::kFull) continue;
    const bool older = found != kMostSlots && header->slot[i].number < header->slot[found].number;
    if (found == kMostSlots || older == (process.flight != 0)) found = i;
  }
  return found;
}

long Buffer::free_one(Process& process, std::uint32_t& freed) {
  while (!find_free(freed)) {
    const std::uint32_t full = full_slot(process);
    // The one just filled is full, unless the collector is at it; then it is at no other, and
    // another one is full or free.
    if (full == kMostSlots) continue;
    Slot& slot = header->slot[full];
    SlotState expected = SlotState::kFull;
    SlotState ours = SlotState::kCopiedByThread;
    if (!__atomic_compare_exchange(&slot.state, &expected, &ours, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
      continue;
    }
    const long error = process.flight == 0 ? write_out(process, full) : 0;
    set_state(slot, error == 0 ? SlotState::kFree : SlotState::kFull);
    if (error == 0) continue;
    // We are not allowed to, but the collector may be.
    const bool barred = error == -EACCES || error == -EPERM || error == -ENOENT ||
                        error == -EMFILE || error == -ENFILE;
    if (!barred || process.control == nullptr || !wait_for_free(process)) return error;
  }
  return 0;
}

long Buffer::take_slot(Process& process, std::uint32_t& taken) {
  if (!find_free(taken)) {
    const std::uint32_t next = header->slots;
    if (next < most && grow(process, next)) {
      taken = next;
      __atomic_store_n(&header->slots, next + 1, __ATOMIC_RELEASE);
      return 0;
    }
    // Its addresses could not be had.
    if (most < most_slots(process)) flight_is_short(process, -ENOMEM);
    if (const long error = free_one(process, taken); error != 0) return error;
  }
  (void)grow(process, taken);
  return 0;
}

/// Writes the block to a file of the thread's own. A file has one writer at a time. The writer of
/// `events` is the collector, which has no priority (SCHED_IDLE), so that it may be off its
/// processor for long in the middle of a write.
long Buffer::write_out(Process& process, std::uint32_t index) {
  const Slot& slot = header->slot[index];
  const long fd = open(process, "/events-", O_WRONLY | O_CREAT);
  if (fd < 0) return fd;
  // Writing what has its blocks already is cheaper by a quarter (ext4); where this is not known, or
  // fails, the write says all there is to say.
  arch::syscall(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, written, slot.used);
  const long error =
      sys::write_all_at(fd, reinterpret_cast<void*>(slot_address(index)), slot.used, written);
  if (error == 0) {
    written += units[index] * kBlockUnit;
  } else {
    // The disk is full, and a shorter block may come here, behind which the rest of this one would
    // lie. Not cut off where it can be helped: who reads the trace meanwhile has the file mapped.
    if (arch::syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, written,
                      kSlotBytes) != 0) {
      arch::syscall(SYS_ftruncate, fd, written);
    }
  }
  sys::close(fd);
  return error;
}

}  // namespace heddle::trace
