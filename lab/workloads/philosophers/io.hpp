#pragma once

#include "heddle/coop/await.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {

/// A fiber's wait for the food.
inline void wait_for_io(const problem& work) {
  if (!work.awaits_io()) return work.block_for_io();
  coop::await(coop::sleep_for(coop::duration(work.io_ns())));
}

}  // namespace heddle::lab::philosophers
