#pragma once

#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {

/// A philosopher of Figure 1(a), where a fork is a semaphore. `wait_for_io()` waits for the food,
/// `give_way()` lets others run.
template <class Forks, class Checkpoint, class WaitForIo, class GiveWay>
void dine(problem& work, int who, Forks& forks, const Checkpoint& checkpoint,
          const WaitForIo& wait_for_io, const GiveWay& give_way) {
  auto& first = forks[static_cast<std::size_t>(work.first(who))];
  auto& second = forks[static_cast<std::size_t>(work.second(who))];
  for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
    work.think(who, checkpoint);
    if (work.does_io()) wait_for_io();
    first.P();
    second.P();
    work.eat(who, checkpoint, give_way);
    first.V();
    second.V();
  }
  work.leave();
}

}  // namespace heddle::lab::philosophers
