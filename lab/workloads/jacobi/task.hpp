#pragma once

#include <algorithm>

#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/jacobi/shared_barrier.hpp"
#include "workloads/jacobi/workload.hpp"

namespace heddle::lab::jacobi {

/// The body of a stackless strand: solve() and meet() in one, as a task of its own for the barrier
/// would cost a frame at each meeting. `Barrier` has
/// - `shared_barrier shared`, for its group;
/// - `library()`: the library's barrier, an awaitable;
/// - `others()`: how many other groups there are;
/// - `tell_others()`, `hear_one()`, an awaitable: what the last to come does.
template <class Barrier>
coop::task<> solve(problem& work, int strand, Barrier& all) {
  for (std::int64_t k = 0;; ++k) {
    const problem::strip mine = work.strip_of(strand, k);
    double largest = 0;
    for (int row = mine.first; row < mine.last; ++row) {
      largest = std::max(largest, work.relax(k, row));
    }
    work.changed(k, strand, largest);

    const auto over = [&shared = all.shared, k] { return shared.over(k); };
    if (work.how() == meeting::library) {
      if (!co_await all.library()) ++count().strand_switches;
    } else if (all.shared.come()) {
      if (all.others() > 0) all.tell_others();
      for (int other = 0; other < all.others(); ++other) co_await all.hear_one();
      all.shared.open();
    } else if (work.how() == meeting::paper) {
      while (!over()) {
        co_await coop::yield();
        ++count().strand_switches;
      }
    } else {
      ++count().strand_switches;
      if (work.how() == meeting::waitfor) {
        co_await coop::wait_for(over);
      } else {
        co_await coop::wait_until(over, all.shared.number);
      }
    }
    if (work.done(k)) {
      if (strand == 0) work.finished(k + 1);
      co_return;
    }
  }
}

}  // namespace heddle::lab::jacobi
