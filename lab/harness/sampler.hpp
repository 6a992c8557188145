#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace heddle::lab {

/// The program counters that a sampler found.
struct samples {
  std::map<std::uintptr_t, std::uint64_t> at;  ///< samples by the program counter, in the program
  std::uint64_t in_kernel = 0;
  std::uint64_t lost = 0;  ///< for want of room, at least

  /// Those that were not lost.
  [[nodiscard]] std::uint64_t count() const;
};

/// Samples the program counters of the thread that makes it, and of the threads which that thread
/// and its threads start afterwards: one sample for each `period` of a thread's processor time.
///
/// The kernel takes the samples (perf_event_open(2), the software clock of a task's processor time,
/// which needs no counter of the processor), so that no signal comes to a strand's small stack and
/// no system call is interrupted. SIGPROF, which gprof samples by, is sent at the kernel's tick,
/// 100 to 1000 times a second: too rarely for a run of some milliseconds.
class sampler {
 public:
  using duration = std::chrono::microseconds;

  /// Throws cannot_run where the kernel does not permit it, and std::system_error.
  explicit sampler(duration period);
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  void start();
  void stop();

  /// The samples so far; after stop(), from the thread that made it.
  [[nodiscard]] samples taken() const;

 private:
  // The samples that were taken on one processor: the kernel writes to its buffer, in a ring.
  struct ring {
    int event;
    void* pages;        // one that tells where the kernel is, then the ring
    std::size_t bytes;  // of the ring
  };

  bool open_all(duration period, std::size_t bytes);
  bool open(int processor, duration period, std::size_t bytes);
  void close_all() noexcept;

  std::size_t page_bytes_;
  std::vector<ring> rings_;
};

}  // namespace heddle::lab
