#pragma once

#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/jacobi/shared_barrier.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {

/// A cooperative fiber's way to meet the others; the last to come calls `meet_others()`, which may
/// wait, before all go on.
template <class MeetOthers>
void meet(shared_barrier& all, meeting how, const MeetOthers& meet_others) {
  const std::int64_t number = all.number;
  if (all.come()) {
    meet_others();
    return all.open();
  }
  const auto over = [&] { return all.over(number); };
  if (how == meeting::paper) {
    while (!over()) {
      coop::await(coop::yield());
      ++count().strand_switches;
    }
    return;
  }
  ++count().strand_switches;
  if (how == meeting::waitfor) {
    coop::await(coop::wait_for(over));
  } else {
    coop::await(coop::wait_until(over, all.number));
  }
}

}  // namespace heddle::lab::jacobi
