#pragma once

#include <cstdint>

#include "harness/counters.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {

/// What the producers' group and the consumers' group share beside the slots.
struct between_groups {
  coop::parallel::semaphore empty;
  coop::parallel::semaphore full{0};

  explicit between_groups(const problem& work) : empty(static_cast<std::uint64_t>(work.slots())) {}
  ~between_groups() {
    counters& mine = count();
    mine.p_operations += empty.p_count() + full.p_count();
    mine.blocked_p_operations += empty.blocked_p_count() + full.blocked_p_count();
    mine.strand_switches += empty.blocked_p_count() + full.blocked_p_count();
  }
  between_groups(const between_groups&) = delete;
  between_groups& operator=(const between_groups&) = delete;
};

/// Runs `produce(producer)` in one group and `consume(consumer)` in another: strands' bodies.
template <class Produce, class Consume>
void run_sides(problem& work, region& timed, const Produce& produce, const Consume& consume) {
  timed.kernel_threads(3);
  coop::parallel::groups groups({.count = 2});
  for (int who = 0; who < work.producers(); ++who) {
    groups[0].spawn([&produce, who] { return produce(who); });
  }
  for (int who = 0; who < work.consumers(); ++who) {
    groups[1].spawn([&consume, who] { return consume(who); });
  }
  groups.run();
}

}  // namespace heddle::lab::buffer
