// docs/trace-format.md, version 1, as structures. The document is the contract; this file only
// spells it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

inline constexpr char kMarkerName[] = "heddle";
inline constexpr char kMarkerText[] = "heddle trace 1\n";
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096;

/// Magics as little-endian integers, so that one store makes a header valid.
inline constexpr std::uint64_t kProcessMagic = 0x434f52504c444548;  // "HEDLPROC"
inline constexpr std::uint64_t kThreadMagic = 0x445248544c444548;   // "HEDLTHRD"

enum class Clock : std::uint32_t { kTsc = 1, kMonotonicRaw = 2 };

/// Three clocks read as close together as possible.
struct Stamp {
  std::uint64_t ticks;
  std::uint64_t realtime_ns;
  std::uint64_t monotonic_raw_ns;
};

inline constexpr std::uint32_t kProcessExitSeen = 1;

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
  std::uint32_t thread_files;
  std::uint32_t reserved;
  std::uint64_t dropped;
  char padding[112];
  char host[256];
  char executable[1024];
  char command_line[2560];
};
static_assert(sizeof(ProcessHeader) == kHeaderBytes);
static_assert(offsetof(ProcessHeader, first) == 40);
static_assert(offsetof(ProcessHeader, boot_id) == 112);
static_assert(offsetof(ProcessHeader, dropped) == 136);
static_assert(offsetof(ProcessHeader, host) == 256);
static_assert(offsetof(ProcessHeader, command_line) == 1536);

inline constexpr std::uint32_t kThreadEndSeen = 1;

struct ThreadHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t record_bytes;
  std::uint32_t tid;
  std::uint32_t flags;
  std::uint64_t reserved;
  std::uint64_t dropped;
  std::uint64_t stack_low;
  std::uint64_t stack_high;
  std::uint64_t first_ticks;
  std::uint64_t room;
  char padding[56];
  char name[64];
};
static_assert(offsetof(ThreadHeader, reserved) == 24);
static_assert(offsetof(ThreadHeader, room) == 64);
static_assert(offsetof(ThreadHeader, name) == 128);

inline constexpr std::uint64_t kExitBit = std::uint64_t{1} << 63;
/// In a record's function: the address lies within the function; the call is paired by its stack
/// pointer.
inline constexpr std::uint64_t kWithin = std::uint64_t{1} << 63;

struct Record {
  std::uint64_t when;  ///< ticks; bit 63 set on exit; stored last, 0 = reserved and never filled
  std::uint64_t function;
  std::uint64_t call_site;
  std::uint64_t stack_pointer;
};
static_assert(sizeof(Record) == 32);

}  // namespace heddle::trace
