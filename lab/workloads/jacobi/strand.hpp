#pragma once

#include <algorithm>

#include "harness/work_loop.hpp"
#include "workloads/jacobi/workload.hpp"

namespace heddle::lab::jacobi {

/// The body of a strand that can wait inside a call; `meet()` is the barrier, `checkpoint()` is
/// called after each row: where CP may switch.
template <class Meet, class Checkpoint>
void solve(problem& work, int strand, const Meet& meet, const Checkpoint& checkpoint) {
  for (std::int64_t k = 0;; ++k) {
    const problem::strip mine = work.strip_of(strand, k);
    double largest = 0;
    for (int row = mine.first; row < mine.last; ++row) {
      largest = std::max(largest, work.relax(k, row));
      checkpoint();
    }
    work.changed(k, strand, largest);
    meet();
    if (work.done(k)) {
      if (strand == 0) work.finished(k + 1);
      return;
    }
  }
}

/// Of models whose strands are switched by the kernel, or only where they wait.
template <class Meet>
void solve(problem& work, int strand, const Meet& meet) {
  solve(work, strand, meet, no_checkpoint);
}

}  // namespace heddle::lab::jacobi
