// Which file was mapped where, and when: the process directory's `modules` file.
#pragma once

#include <cstdint>

#include "fork.hpp"
#include "lock.hpp"

namespace heddle::trace {

/// One mapped file, as last written to `modules`.
struct Module {
  std::uint64_t start, end, bias;
  std::uint64_t text_start, text_end;  ///< of the executable segments
  std::uint64_t path_hash;
  std::uint64_t seen;  ///< number of the latest scan that met it
};

/// Part of the process block, so that fork wipes it and a child begins with a full list.
struct Modules {
  ForkGate gate;  ///< in front of dl_iterate_phdr
  /// Inside dl_iterate_phdr's own lock and inside nothing else; no call to the program's code
  /// happens under it.
  Lock lock;
  bool* trouble_noted;  ///< the process's
  Module* known;
  std::uint64_t count, room;
  std::uint64_t scans;
  bool overlap;  ///< the texts of two known modules overlap modulo 4 GiB, so that 32 bits don't
                 ///< tell an address
  std::uint64_t first_text, first_text_size;  ///< of the module that was loaded first: the program
  std::uint64_t adds, subs;                   ///< the loader's counters at the last complete scan
  std::uint64_t
      since;  ///< ticks at which the last scan began: what it did not meet was loaded later
  std::uint64_t bytes;  ///< of the file
  /// Of libraries in other link namespaces of which it was said that they are not recorded: hashes
  /// of their names, and how many. No more are told.
  std::uint64_t elsewhere[32];
  unsigned told_elsewhere;
  std::uint32_t* told;  ///< in the process's header: the same
  std::uint32_t sum;    ///< of the last line; before the first one, what that names instead
  char path[4224];      ///< of the file
  char name[4096];      ///< scratch
  char line[8512];      ///< scratch; a path of 4095 newlines fits
};

/// Appends what changed since the last scan. Never call with the process lock held: a program's own
/// dl_iterate_phdr callback may sit in a hook, holding the loader's lock and waiting for ours.
/// False: another thread is forking, so this must be done later. `wait`: until it has forked.
[[nodiscard("if false, again later")]] bool scan_modules(Modules& modules, bool wait = false);

/// Whether the loader has loaded or unloaded anything since the last scan. True also where that
/// cannot be said now.
[[nodiscard]] bool modules_changed(Modules& modules);

}  // namespace heddle::trace
