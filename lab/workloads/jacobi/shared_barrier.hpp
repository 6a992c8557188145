#pragma once

#include <cstdint>

#include "heddle/coop/sync/watched.hpp"

namespace heddle::lab::jacobi {

/// CM's barrier: shared variables, which no other strand can change between two waits. Watched,
/// though that matters to wait_until() alone: reading it is reading a number.
class shared_barrier {
 public:
  explicit shared_barrier(int strands) : expected_(strands) {}

  /// Whether the caller is the last to come: it has to open() then.
  bool come() {
    if (++come_ < expected_) return false;
    come_ = 0;
    return true;
  }
  void open() { ++number; }
  /// Whether that meeting, 0 for the first, is over.
  [[nodiscard]] bool over(std::int64_t meeting) const { return number.get() != meeting; }

  coop::watched<std::int64_t> number;  ///< of the meeting to come

 private:
  int expected_;
  int come_ = 0;
};

}  // namespace heddle::lab::jacobi
