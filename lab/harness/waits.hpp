#pragma once

#include <cstdint>

namespace heddle::lab {

/// Counts the waits for conditions on shared variables in a run under CM.
struct waits {
  std::uint64_t switches = 0;     ///< a strand left because it had to wait, or yielded
  std::uint64_t evaluations = 0;  ///< a condition was looked at in vain

  /// A condition that counts.
  template <class Condition>
  auto counting(Condition holds) {
    return [this, holds] {
      if (holds()) return true;
      ++evaluations;
      return false;
    };
  }
};

}  // namespace heddle::lab
