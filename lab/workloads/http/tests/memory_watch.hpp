#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "harness/process_size.hpp"
#include "heddle/coop/ext/sanitizer.hpp"

namespace heddle::lab::http {

/// Whether a process takes more and more memory for the same work. Looks at it now and then in the
/// second quarter of the work, by which it has what it needs, and in the last one.
class memory_watch {
 public:
  memory_watch(const std::atomic<pid_t>& process, std::int64_t work)
      : process_(process), work_(work) {}

  /// So much of the work is done. Throws std::runtime_error if the process is gone.
  void reached(std::int64_t done) {
    constexpr std::int64_t looks = 32;  // if it were in all quarters
    const std::int64_t quarter = 4 * done / work_;
    if ((quarter != 1 && quarter != 3) || done * looks / work_ == last_) return;
    last_ = done * looks / work_;
    std::int64_t& most = quarter == 1 ? early_ : late_;
    most = std::max(most, resident_bytes(process_));
  }
  /// The most that it had in the second quarter, and in the last: resident, in bytes.
  [[nodiscard]] std::int64_t early() const { return early_; }
  [[nodiscard]] std::int64_t late() const { return late_; }
  /// Whether the latter is more by more than how many large answers are under way at a moment,
  /// which is chance. Not under a sanitizer, which keeps what was freed.
  [[nodiscard]] bool grows() const {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
    return false;
#else
    return late_ > early_ + early_ / 4 + 2 * 1024 * 1024;
#endif
  }

 private:
  const std::atomic<pid_t>& process_;  // it may be made later
  std::int64_t work_;
  std::int64_t last_ = -1;
  std::int64_t early_ = 0;
  std::int64_t late_ = 0;
};

}  // namespace heddle::lab::http
