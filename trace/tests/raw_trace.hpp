// Reads the files of docs/trace-format.md, version 1, plainly and completely into memory, by
// offsets of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

struct RawRecord {
  std::uint64_t ticks;
  bool exit;
  std::uint64_t function, call_site, stack_pointer;
};

struct RawThread {
  std::string magic, name;
  std::uint32_t version, record_bytes, tid, flags;
  std::uint64_t reserved, dropped, stack_low, stack_high, first_ticks, room;
  std::vector<RawRecord> records;
  std::uint64_t unfilled;

  [[nodiscard]] std::uint64_t enters() const;
};

struct RawModule {
  bool load;
  std::uint64_t ticks, start, end, bias;
  std::string build_id, path;
};

struct RawProcess {
  std::filesystem::path directory;
  std::string magic, host, executable, command_line;
  std::uint32_t version, flags, pid, parent, clock, latest_stamps, thread_files;
  std::uint64_t first_ticks, first_realtime_ns, latest_ticks[2], dropped;
  std::vector<RawThread> threads;  ///< in order of their numbers
  std::vector<RawModule> modules;

  [[nodiscard]] std::uint64_t enters() const;
  [[nodiscard]] std::uint64_t events() const;
  [[nodiscard]] std::uint64_t all_dropped() const;

  /// The module that held the address at that time, by the document's rule; null if none did.
  [[nodiscard]] const RawModule* module_of(std::uint64_t address, std::uint64_t ticks) const;
};

/// All process directories of a trace, ordered by name. Throws if the marker file is not there or
/// not right.
[[nodiscard]] std::vector<RawProcess> read_trace(const std::filesystem::path& trace);

/// Whether exits close what was entered, on one stack, with nothing left over at the end.
[[nodiscard]] bool well_nested(const RawThread& thread);
