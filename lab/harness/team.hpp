#pragma once

#include <thread>
#include <vector>

#include "harness/measure.hpp"

namespace heddle::lab {

/// Runs `body(0) … body(threads - 1)`, each on a thread of its own, and waits for all.
template <class Body>
void run_on_threads(region& timed, int threads, const Body& body) {
  timed.kernel_threads(static_cast<std::uint64_t>(threads) + 1);
  std::vector<std::jthread> team;
  team.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) team.emplace_back([&body, i] { body(i); });
}

}  // namespace heddle::lab
