#pragma once

#include <sys/types.h>

#include <cstdint>

namespace heddle::lab {

/// The size of this process, in bytes but for its threads, from /proc/self/status.
struct process_size {
  std::int64_t resident = 0;     ///< VmRSS
  std::int64_t page_tables = 0;  ///< VmPTE: what maps it
  std::int64_t reserved = 0;     ///< VmSize: addresses, whether there is memory behind them or not
  std::int64_t threads = 0;      ///< Threads: how many the kernel has for it

  /// Throws std::runtime_error if the kernel does not say.
  [[nodiscard]] static process_size now();
};

/// The memory of a process, in bytes: of pages that several processes have, its part (PSS); with
/// page tables, without what the kernel has of each thread. Throws std::runtime_error if the kernel
/// does not say.
[[nodiscard]] std::int64_t proportional_bytes(pid_t process);

/// The memory of `process` that is there, in bytes. Throws std::runtime_error if the kernel does
/// not say.
[[nodiscard]] std::int64_t resident_bytes(pid_t process);

/// A size that /proc/meminfo gives of the whole machine, in bytes: "MemAvailable", "KernelStack" …
/// Throws std::runtime_error if it does not.
[[nodiscard]] std::int64_t machine_bytes(const char* name);

}  // namespace heddle::lab
