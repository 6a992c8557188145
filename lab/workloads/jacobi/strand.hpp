#pragma once

#include <algorithm>

#include "heddle/coop/concurrent.hpp"
#include "workloads/jacobi/workload.hpp"

namespace heddle::lab::jacobi {

/// The body of a strand that can wait inside a call; `meet()` is the barrier. Under `concurrent` it
/// may be switched after each row; elsewhere a checkpoint is nothing.
template <class Meet>
void solve(problem& work, int strand, const Meet& meet) {
  for (std::int64_t k = 0;; ++k) {
    const problem::strip mine = work.strip_of(strand, k);
    double largest = 0;
    for (int row = mine.first; row < mine.last; ++row) {
      largest = std::max(largest, work.relax(k, row));
      coop::await(coop::checkpoint());
    }
    work.changed(k, strand, largest);
    meet();
    if (work.done(k)) {
      if (strand == 0) work.finished(k + 1);
      return;
    }
  }
}

}  // namespace heddle::lab::jacobi
