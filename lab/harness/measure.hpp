#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "harness/counters.hpp"
#include "harness/energy.hpp"

namespace heddle::lab {

/// The kernel's counts for this process and the children it has waited for; the peak is that of the
/// children alone: ru_maxrss of a process is also that of the program which it was before exec.
struct usage {
  std::uint64_t user_ns = 0;
  std::uint64_t sys_ns = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< since the program began, not a difference

  [[nodiscard]] static usage now();
  /// The difference to `start`; the peak stays.
  [[nodiscard]] usage since(const usage& start) const;
};

/// The memory of a process.
struct memory {
  std::uint64_t resident_bytes = 0;       ///< pages that are there
  std::uint64_t peak_resident_bytes = 0;  ///< the most that these ever were in this program
  std::uint64_t reserved_bytes = 0;       ///< address space, stacks to their full size included
  std::uint64_t peak_reserved_bytes = 0;  ///< the most that this ever was

  /// The memory of this process, from /proc; zeros where that cannot be read.
  [[nodiscard]] static memory now();
};

/// CLOCK_MONOTONIC, ns.
[[nodiscard]] std::uint64_t now_ns();
/// Processor time of all threads of this process, ns.
[[nodiscard]] std::uint64_t cpu_now_ns();
/// Pages that this process has touched for the first time, or that the kernel had to bring back.
[[nodiscard]] std::uint64_t page_faults_so_far();

/// Tells a recorder where the measured stretch begins and ends (`heddle report --by time`).
void mark_begin() noexcept;
void mark_end() noexcept;

/// The stretch of a model's run that is measured.
///
/// The harness takes `total_ns` and the counters from before the model's function to after it:
/// creation, run, deletion. A model that sets something up first brackets the rest with begin() and
/// end(): `wall_ns`. Without them it is the same as `total_ns`. The processor time of the same
/// stretch is `cpu_ns`: what other programs do in between is not in it. So are its page faults.
class region {
 public:
  void begin() {
    mark_begin();
    begin_faults_ = page_faults_so_far();
    begin_cpu_ns_ = cpu_now_ns();
    begin_ns_ = now_ns();
  }
  void end() {
    end_ns_ = now_ns();
    end_cpu_ns_ = cpu_now_ns();
    end_faults_ = page_faults_so_far();
    mark_end();
  }

  /// Sets the number of kernel threads that the model used, the main one included; 1 unless it is
  /// set.
  void kernel_threads(std::uint64_t threads) { threads_ = threads; }

  /// Runs `body`, with everything measured.
  template <class Body>
  void measure(Body&& body) {
    // First what allocates itself.
    const memory memory_before = memory::now();
    const energy energy_before = energy::now();
    const counters counted_before = counted_so_far();
    mark_begin();
    const usage usage_before = usage::now();
    const std::uint64_t start_faults = page_faults_so_far();
    const std::uint64_t start_cpu = cpu_now_ns();
    const std::uint64_t start = now_ns();
    body();
    const std::uint64_t stop = now_ns();
    const std::uint64_t stop_cpu = cpu_now_ns();
    const std::uint64_t stop_faults = page_faults_so_far();
    used_ = usage::now().since(usage_before);
    mark_end();
    counted_ = counted_so_far();
    counted_ -= counted_before;
    energy_uj_ = energy::now().since(energy_before);
    const memory memory_after = memory::now();
    grown_bytes_ = above(memory_after.peak_resident_bytes, memory_before.resident_bytes);
    reserved_bytes_ = above(memory_after.peak_reserved_bytes, memory_before.reserved_bytes);
    used_.peak_rss_bytes = std::max(used_.peak_rss_bytes, memory_after.peak_resident_bytes);
    total_ns_ = stop - start;
    wall_ns_ = end_ns_ != 0 ? end_ns_ - begin_ns_ : total_ns_;
    cpu_ns_ = end_ns_ != 0 ? end_cpu_ns_ - begin_cpu_ns_ : stop_cpu - start_cpu;
    page_faults_ = end_ns_ != 0 ? end_faults_ - begin_faults_ : stop_faults - start_faults;
  }

  [[nodiscard]] std::uint64_t wall_ns() const { return wall_ns_; }
  [[nodiscard]] std::uint64_t cpu_ns() const { return cpu_ns_; }
  [[nodiscard]] std::uint64_t page_faults() const { return page_faults_; }
  [[nodiscard]] std::uint64_t total_ns() const { return total_ns_; }
  [[nodiscard]] std::uint64_t kernel_threads() const { return threads_; }
  [[nodiscard]] const usage& used() const { return used_; }
  /// The energy that the machine used during the run; nothing where that cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> energy_uj() const { return energy_uj_; }
  /// The growth of the process's memory from before the run to its peak, and that of its address
  /// space. Exact to some hundred kilobytes, as the kernel counts, and only without a warm-up
  /// before.
  [[nodiscard]] std::uint64_t grown_bytes() const { return grown_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes() const { return reserved_bytes_; }
  [[nodiscard]] const counters& counted() const { return counted_; }

 private:
  static std::uint64_t above(std::uint64_t peak, std::uint64_t before) {
    return peak > before ? peak - before : 0;
  }

  std::uint64_t begin_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::uint64_t begin_cpu_ns_ = 0;
  std::uint64_t end_cpu_ns_ = 0;
  std::uint64_t begin_faults_ = 0;
  std::uint64_t end_faults_ = 0;
  std::uint64_t page_faults_ = 0;
  std::uint64_t wall_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t total_ns_ = 0;
  std::optional<std::uint64_t> energy_uj_;
  std::uint64_t grown_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t threads_ = 1;
  usage used_;
  counters counted_;
};

}  // namespace heddle::lab
