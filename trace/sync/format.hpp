// What `heddle record --sync` adds to a trace (docs/trace-format.md, Waits), as structures.
#pragma once

#include "../format.hpp"

namespace heddle::trace {

inline constexpr std::uint64_t kObjectsMagic = 0x534a424f4c444548;  // "HEDLOBJS"
inline constexpr RecordType kObjectMet{24}, kWait{25}, kWaitEnded{26}, kWake{27};
/// Of `heddle record --sched`.
inline constexpr RecordType kLongCall{28};

enum class ObjectKind : std::uint8_t {
  kMutex = 1,
  kRwLock,
  kCondition,
  kSemaphore,
  kBarrier,
  kSpinLock,
  kOnce,
  kThread,  ///< its end is waited for
  kFutex,   ///< of another runtime
};

/// Further bits of an object's `about` and of a record of type object: its initialisation was seen,
/// and the site is where that was called.
inline constexpr std::uint64_t kMade = 1 << 8;
/// Where the number of an object is in the upper half of a record's first word, behind its kind.
inline constexpr unsigned kNumberShift = 9;
/// Further bits of the kind in a record of type wait: it ends at a time; a rwlock is to be written;
/// threads of other processes may have the object.
inline constexpr std::uint32_t kTimed = 1 << 8, kWrites = 1 << 9, kShared = 1 << 10;
/// The same bit of a record of type wake: of a condition, all that wait for it are woken.
inline constexpr std::uint32_t kAll = 1 << 8;
/// Words of records of types wait and wake.
inline constexpr unsigned kWaitWords = 10, kWakeWords = 4;

/// The highest bit of a holder's thread: it has let go of the object since.
inline constexpr std::uint32_t kReleased = std::uint32_t{1} << 31;

/// The readers that have a rwlock: their number is in the upper bits of `taken`, the sum of their
/// threads' numbers in those of `blocked`. So the sum names the only reader, though others came
/// later and have let go.
inline constexpr unsigned kReadersShift = 48, kReaderSumShift = 40;

/// The low halves of the return addresses of the callers of a holder's site, innermost first: two
/// in `given`, two in `unmet`, one in `fifth`.
inline constexpr unsigned kCallers = 5;

/// What is known of an object. Its number is its place in all files of objects, from 1.
struct alignas(64) Object {
  std::uint64_t key;      ///< its address; with bit 0, another object's address is the same now
  std::uint64_t about;    ///< kind, kMade; from bit 32 up the low half of a site
  std::uint64_t taken;    ///< operations that have got what they wanted; kReadersShift
  std::uint64_t blocked;  ///< those that had to wait, whether they are over or not; kReaderSumShift
  std::uint64_t holder;   ///< the latest one's kernel thread, kReleased; from bit 32 up its site
  std::uint64_t given;    ///< operations that wake somebody up; mutex, rwlock, spin lock: kCallers
  std::uint64_t unmet;    ///< of a condition those that found nobody waiting, of a semaphore those
                          ///< by its holder; likewise
  std::uint32_t fifth;    ///< likewise
  std::uint32_t waiting;  ///< threads that wait, or were torn away while they did
};
static_assert(sizeof(Object) == 64);
static_assert(offsetof(Object, holder) == 32 && offsetof(Object, given) == 40);
static_assert(offsetof(Object, waiting) == 60);

/// The file `objects-<n>`: a header, then objects.
struct ObjectsHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t room;       ///< objects
  std::uint32_t before;     ///< objects of the files before this one
  std::uint32_t flags;      ///< kReadersCounted
  std::uint64_t uncounted;  ///< operations on objects that had no room; of the first file
  char more_padding[4064];
};
static_assert(sizeof(ObjectsHeader) == kHeaderBytes);

/// A flag of a file of objects: its rwlocks have the number of their readers.
inline constexpr std::uint32_t kReadersCounted = 1;

/// Objects are a power of two in each file. The first is small, as each process has one: of a
/// program that forks often, these would be most of the trace.
inline constexpr unsigned kObjectFiles = 9;
inline constexpr unsigned kFirstObjectBits = 8, kSecondObjectBits = 13;

constexpr unsigned object_bits(unsigned file) {
  return file == 0 ? kFirstObjectBits : kSecondObjectBits - 1 + file;
}

/// Objects of the file with this index.
constexpr std::uint32_t objects_of(unsigned file) { return 1u << object_bits(file); }

}  // namespace heddle::trace
