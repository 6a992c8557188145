#pragma once

#include <stdexcept>
#include <thread>
#include <vector>

#include "harness/baton.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {

/// A ring of threads that hand over by futexes, of which we are strand 0. `place(strand)` is called
/// first in each, to choose its processor.
template <class Place>
void run_thread_ring(problem& work, region& timed, const Place& place) {
  const auto contexts = static_cast<std::size_t>(work.contexts());
  std::vector<baton<FUTEX_PRIVATE_FLAG>> batons(contexts);
  const auto next_of = [&](std::size_t self) -> auto& { return batons[(self + 1) % contexts]; };
  std::vector<char> well(contexts, 1);

  const auto body = [&](std::size_t self) {
    place(static_cast<int>(self));
    turns mine = work.turns_of(static_cast<int>(self));
    well[self] = batons[self].take() && next_of(self).give();  // the round that starts everybody
    for (std::int64_t i = 0; i < work.counter(); ++i) {
      well[self] &= batons[self].take();
      mine.take();
      well[self] &= next_of(self).give();
    }
    work.finish(mine);
  };

  timed.kernel_threads(contexts);
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < contexts; ++i) threads.emplace_back(body, i);
  place(0);
  turns mine = work.turns_of(0);
  well[0] = next_of(0).give() && batons[0].take();
  timed.begin();
  for (std::int64_t i = 0; i < work.counter(); ++i) {
    mine.take();
    well[0] &= next_of(0).give();
    well[0] &= batons[0].take();
  }
  timed.end();
  work.finish(mine);
  threads.clear();  // joins
  for (const char each : well) {
    if (each == 0) throw std::runtime_error("the kernel refused a futex operation");
  }
  count().p_operations += static_cast<std::uint64_t>(work.contexts() * work.counter());
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
}

}  // namespace heddle::lab::switching
