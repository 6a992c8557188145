// Reads the files of docs/trace-format.md, version 4, plainly and completely into memory, by
// offsets of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

struct RawRecord {
  std::uint64_t ticks;
  bool exit;
  bool entry_way;
  std::uint64_t function;  ///< completed by the modules; an exit's: bits 4 to 14 if it is short
  std::uint64_t call_site;
  std::uint64_t stack_pointer;
  bool untimed = false;  ///< the clock was not read
};

/// Any other record.
struct RawNote {
  std::uint64_t type, more, ticks, number;
  std::string text;
  std::size_t before;  ///< number of the thread's calls in front of it
};

struct RawThread {
  std::string name;
  std::uint32_t number, tid, flags;
  std::uint32_t made_by;  ///< number of the making, 0 = not known
  std::uint64_t dropped, stack_low, stack_high, first_ticks;
  std::vector<RawRecord> records;
  std::vector<RawNote> notes;
  std::uint64_t bases, wides;  ///< records of these types

  [[nodiscard]] std::uint64_t enters() const;
};

struct RawModule {
  bool load;
  std::uint64_t ticks, start, end, text_start, text_end, bias;
  std::string build_id, path;
};

struct RawProcess {
  std::filesystem::path directory;
  std::string magic, host, executable, command_line;
  std::uint32_t version, flags, pid, parent, clock, latest_stamps, thread_count, buffers, trouble;
  std::uint64_t first_ticks, first_realtime_ns, latest_ticks[2], dropped, flight;
  std::uint64_t fork_image;
  std::uint32_t fork_pid, fork_thread, fork_making;
  std::uint32_t module_bytes;
  std::uint32_t unplanned, wanted_of_plan, flight_trouble;
  double ticks_per_ns;             ///< by the first stamp and the latest; 0: there is no latest
  std::vector<RawThread> threads;  ///< in order of their numbers
  std::vector<RawModule> modules;

  [[nodiscard]] std::uint64_t enters() const;
  [[nodiscard]] std::uint64_t events() const;
  [[nodiscard]] std::uint64_t all_dropped() const;

  /// The module that held the address at that time, by the document's rule; null if none did.
  [[nodiscard]] const RawModule* module_of(std::uint64_t address, std::uint64_t ticks) const;
};

/// Bytes of the blocks, in `events` and in the buffers, that are filled.
[[nodiscard]] std::uint64_t block_bytes(const std::filesystem::path& process);

/// All process directories of a trace, ordered by name. Throws if the marker file is not there or
/// not right.
[[nodiscard]] std::vector<RawProcess> read_trace(const std::filesystem::path& trace);

/// Whether exits close what was entered, on one stack, with nothing left over at the end.
[[nodiscard]] bool well_nested(const RawThread& thread);
