// docs/trace-format.md, version 5, as structures. The document is the contract; this file only
// spells it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

inline constexpr char kMarkerName[] = "heddle";
inline constexpr char kMarkerText[] = "heddle trace 5\n";
inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::size_t kHeaderBytes = 4096;

/// Magics as little-endian integers, so that one store makes a header valid.
inline constexpr std::uint64_t kProcessMagic = 0x434f52504c444548;  // "HEDLPROC"
inline constexpr std::uint64_t kBufferMagic = 0x524655424c444548;   // "HEDLBUFR"
inline constexpr std::uint64_t kControlMagic = 0x4c5254434c444548;  // "HEDLCTRL"
inline constexpr std::uint64_t kPlanMagic = 0x4e414c504c444548;     // "HEDLPLAN"
inline constexpr std::uint64_t kBlockMagic = 0x4b434c424c444548;    // "HEDLBLCK"

enum class Clock : std::uint32_t { kTsc = 1, kMonotonicRaw = 2 };

/// Three clocks read as close together as possible.
struct Stamp {
  std::uint64_t ticks;
  std::uint64_t realtime_ns;
  std::uint64_t monotonic_raw_ns;
};

/// Flags of a process: its exit was seen; a function of libc was called that puts another program
/// in its place, and has not failed.
inline constexpr std::uint32_t kProcessExitSeen = 1, kProcessReplaced = 2;

/// What was asked for beside calls. kAskedKnown: the other bits and what follows them say so.
inline constexpr std::uint32_t kAskedKnown = 1, kAskedWaits = 2, kAskedAllocation = 4,
                               kAskedSwitches = 8;
/// A snapshot's: tables of objects and of allocation are not in it.
inline constexpr std::uint32_t kTablesLeftOut = 16;

/// What the plan that left functions out was to tell.
inline constexpr std::uint32_t kWantedPatterns = 1, kWantedValues = 2;

/// The fork that made a process. All zeros: there was none, or it is not known.
struct Fork {
  std::uint64_t image;   ///< ticks of the first stamp of the parent's image
  std::uint32_t pid;     ///< the parent's
  std::uint32_t thread;  ///< number of the parent's thread that forked
  std::uint32_t making;  ///< number of that thread's record of it
};

struct ProcessHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t flags;
  std::uint32_t pid;
  std::uint32_t parent_pid;
  Clock clock;
  std::uint32_t latest_stamps;
  std::uint64_t ticks_per_second;
  Stamp first;
  Stamp latest[2];
  std::uint8_t boot_id[16];
  std::uint32_t threads;
  std::uint32_t buffers;
  std::uint64_t dropped;
  char padding[8];
  std::uint64_t flight;
  std::uint32_t sparse;
  std::uint32_t trouble;  ///< why events were dropped first, an error number; 0 = none was
  Fork fork;
  std::uint64_t blocks;        ///< that were begun; the next one's number
  std::uint32_t at_work;       ///< threads that are in the recorder's slow path
  std::uint32_t module_bytes;  ///< of whole lines that `modules` has got so far
  std::uint32_t asked;         ///< kAskedKnown …
  std::uint32_t object_files;  ///< that were made
  std::uint32_t allocation_files;
  std::uint32_t table_trouble;          ///< why one more could not be made first, an error number
  std::uint64_t uncounted_operations;   ///< on objects, without a table
  std::uint64_t uncounted_allocations;  ///< likewise
  std::uint32_t unplanned;       ///< why a plan first left functions out, an error number; 0 = no
  std::uint32_t wanted_of_plan;  ///< kWantedPatterns …, where it did
  std::uint32_t flight_trouble;  ///< why a flight recorder first got less room, an error number
  std::uint32_t more_padding;
  char host[256];
  char executable[1024];
  char command_line[2560];
};
static_assert(sizeof(ProcessHeader) == kHeaderBytes);
static_assert(offsetof(ProcessHeader, first) == 40);
static_assert(offsetof(ProcessHeader, boot_id) == 112);
static_assert(offsetof(ProcessHeader, dropped) == 136);
static_assert(offsetof(ProcessHeader, sparse) == 160);
static_assert(offsetof(ProcessHeader, fork) == 168 && offsetof(Fork, making) == 16);
static_assert(offsetof(ProcessHeader, trouble) == 164);
static_assert(offsetof(ProcessHeader, module_bytes) == 204);
static_assert(offsetof(ProcessHeader, asked) == 208);
static_assert(offsetof(ProcessHeader, uncounted_operations) == 224);
static_assert(offsetof(ProcessHeader, unplanned) == 240);
static_assert(offsetof(ProcessHeader, host) == 256);
static_assert(offsetof(ProcessHeader, command_line) == 1536);

struct Control {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t bell;
  std::uint32_t requests;  ///< for plans
  std::uint32_t answers;
  std::uint64_t lost;     ///< events of processes that cannot even make their directory
  std::uint32_t trouble;  ///< why not, an error number; 0 = there is no such process
  std::uint32_t stuck;    ///< 1 = the collector could not copy a block when it tried last
  std::uint64_t uncounted_operations;   ///< of such processes, on objects
  std::uint64_t uncounted_allocations;  ///< likewise
  std::uint32_t barred;                 ///< programs whose processes may no longer open this file
  std::uint32_t barred_reason;          ///< why the first may not, an error number
  std::uint64_t inode;                  ///< of the trace's directory
  std::uint32_t ended;                  ///< 1 = the recording has ended
  std::uint32_t refusal;  ///< why no plan comes any more, an error number; 0 = not said
};

static_assert(offsetof(Control, lost) == 24 && offsetof(Control, trouble) == 32);
static_assert(offsetof(Control, uncounted_operations) == 40 && offsetof(Control, inode) == 64);
static_assert(offsetof(Control, refusal) == 76);

/// The process that may access a slot's block.
enum class SlotState : std::uint32_t {
  kFree = 0,
  kFilling = 1,
  kFull = 2,
  kCopiedByThread = 3,
  kCopiedByCollector = 4,
};

struct Slot {
  SlotState state;
  std::uint32_t used;    ///< bytes of the block, once it is full
  std::uint64_t number;  ///< the block's
};

inline constexpr std::uint32_t kMostSlots = 128;
inline constexpr std::uint64_t kSlotBytes = 1 << 20;
/// Blocks have room for a multiple of this.
inline constexpr std::uint64_t kBlockUnit = 4 << 10;

struct BufferHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t slots;
  std::uint64_t address;  ///< where the traced process has the file mapped
  std::uint64_t dropped;
  std::uint32_t thread;  ///< number of the one whose run is the last in this buffer
  char padding[28];
  std::uint64_t position;  ///< address behind the last record; the hooks' commit
  char more_padding[1976];
  Slot slot[kMostSlots];
};
static_assert(sizeof(BufferHeader) == kHeaderBytes);
static_assert(offsetof(BufferHeader, thread) == 32);
static_assert(offsetof(BufferHeader, position) == 64);
static_assert(offsetof(BufferHeader, slot) == 2048);

struct BlockHeader {
  std::uint64_t magic;
  std::uint32_t room;
  std::uint32_t used;
  std::uint64_t number;
  std::uint64_t reserved[5];
};
static_assert(sizeof(BlockHeader) == 64);

/// First words. An enter or exit: kind and way | stack pointer | callee's bits | ticks.
inline constexpr std::uint64_t kExit = 1;
inline constexpr std::uint64_t kEntryWay = 2;
inline constexpr std::uint64_t kUntimed = 4;
inline constexpr std::uint64_t kCall = 8;
inline constexpr unsigned kStackShift = 4, kStackBits = 22;
inline constexpr std::uint64_t kStackUnit = 8;
inline constexpr unsigned kCalleeShift = 26, kCalleeBits = 11;
/// The thread was off its processor, or interrupted, since its previous record; only where one
/// reading of the clock serves for several records.
inline constexpr std::uint64_t kPreempted = std::uint64_t{1} << 37;
/// A reading of the clock serves for the records within so many bytes (`--clock sparse`).
inline constexpr std::uint32_t kSparseBytes = 128;
inline constexpr unsigned kTicksShift = 38, kTicksBits = 26;

enum class RecordType : std::uint64_t {
  kRun = 1,
  kBase,
  kWideEnter,
  kWideExit,
  kGap,
  kMark,
  kStrand,
  kStrandName,
  kStrandWaits,
  kCapture,
  kMaking,
  kFrameMade,
  kFrameFreed,
  kFrameLeft,
  kStackMade,
  kStrandMade,
  kTime,
  kJump,
  kArguments = 20,
  kResult,
};

/// A jump goes to a lower address than the stack pointer's, so to another stack.
inline constexpr std::uint64_t kJumpDownwards = 1;
/// From bit 1 up, how far an exception's jump goes, in units of so many bytes; 0 where it goes so
/// many units or more.
inline constexpr std::uint64_t kJumpUnit = 16, kJumpUnits = std::uint64_t{1} << 31;

/// What a thread makes, by its record of type making.
enum class Making : std::uint32_t { kProcess = 1, kThread = 2 };

constexpr std::uint64_t first_word(RecordType type, std::uint64_t words, std::uint64_t more) {
  return static_cast<std::uint64_t>(type) << 4 | words << 16 | more << 32;
}

/// Flags of a run: bit 0, and from bit 1 up the number of the making by which its thread was made.
inline constexpr std::uint32_t kThreadEndSeen = 1;
inline constexpr unsigned kMadeByShift = 1;
/// Of one process.
inline constexpr std::uint32_t kMostMakings = (std::uint32_t{1} << 31) - 1;

struct RunRecord {
  std::uint64_t word;
  std::uint32_t thread;
  std::uint32_t number;
  std::uint64_t base_ticks;
  std::uint64_t base_stack;
  std::uint32_t tid;
  std::uint32_t flags;
  std::uint64_t stack_low;
  std::uint64_t stack_high;
  std::uint64_t first_ticks;
  char name[64];

  static constexpr std::uint64_t first_word(std::uint64_t bytes) {
    return trace::first_word(RecordType::kRun, sizeof(RunRecord) / 8, bytes);
  }
};
static_assert(sizeof(RunRecord) == 16 * 8);

}  // namespace heddle::trace
