#include <doctest/doctest.h>

#include "workloads/switch/workload.hpp"

namespace heddle::lab::switch_oracle_test {

// Three strands take four turns each in this order.
verdict run(const std::vector<int>& order) {
  const parameters values(switching::problem::declare());
  switching::problem work(values.with("contexts", 3).with("counter", 4));
  std::vector<switching::turns> strands;
  for (int i = 0; i < 3; ++i) strands.push_back(work.turns_of(i));
  for (const int strand : order) strands[static_cast<std::size_t>(strand)].take();
  for (const switching::turns& each : strands) work.finish(each);
  return work.check();
}

TEST_CASE("the switch oracle passes round robin and no other order") {
  CHECK(run({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}).ok);
  CHECK_FALSE(run({0, 1, 2, 0, 2, 1, 0, 1, 2, 0, 1, 2}).ok);  // two swapped
  CHECK_FALSE(run({1, 0, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}).ok);  // at the start
  CHECK_FALSE(run({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 1}).ok);  // at the end
  CHECK_FALSE(run({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}).ok);  // one after the other
  CHECK_FALSE(run({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}).ok);     // one turn lost
  CHECK_FALSE(run({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}).ok);
}

}  // namespace heddle::lab::switch_oracle_test
