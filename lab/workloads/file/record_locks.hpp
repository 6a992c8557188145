#pragma once

#include <array>
#include <mutex>

#include "harness/locks.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {

/// A mutex for each of so many groups of records, for threads that read and write them in place. A
/// search compares ids, which no write changes: it needs none.
class record_locks {
 public:
  static constexpr std::size_t groups = 64;

  /// Holds the lock that an operation needs, if any, while it is alive.
  [[nodiscard]] std::unique_lock<counting<std::mutex>> guard(const operation& wanted) {
    if (wanted.what == kind::search) return {};
    return std::unique_lock(locks_[static_cast<std::size_t>(wanted.target.id) % groups].mutex);
  }

 private:
  struct alignas(64) padded {
    counting<std::mutex> mutex;
  };
  std::array<padded, groups> locks_;
};

}  // namespace heddle::lab::file
