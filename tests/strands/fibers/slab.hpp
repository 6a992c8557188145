// Stacks that lie side by side, without guards, and are used again, the one freed last first.
#pragma once

#include <cstdlib>
#include <mutex>
#include <vector>

#include "../truth.hpp"

namespace library {

class slab {
 public:
  /// The lowest byte of a stack; all stacks of a program have the same size.
  PLAIN static char* take(std::size_t bytes) {
    slab& all = the();
    const std::lock_guard lock(all.mutex_);
    if (all.free_.empty()) {
      char* const more = static_cast<char*>(std::aligned_alloc(4096, side_by_side * bytes));
      if (more == nullptr) std::abort();
      for (std::size_t i = 0; i < side_by_side; ++i) all.free_.push_back(more + i * bytes);
    }
    char* const taken = all.free_.back();
    all.free_.pop_back();
    return taken;
  }
  PLAIN static void give(char* stack) {
    slab& all = the();
    const std::lock_guard lock(all.mutex_);
    all.free_.push_back(stack);
  }

 private:
  static constexpr std::size_t side_by_side = 64;
  PLAIN static slab& the() {
    static slab all;
    return all;
  }
  std::mutex mutex_;
  std::vector<char*> free_;
};

}  // namespace library
