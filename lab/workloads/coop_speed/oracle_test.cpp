#include <doctest/doctest.h>

#include "workloads/coop_speed/workload.hpp"

namespace heddle::lab::coop_speed_oracle_test {

// Two strands take three turns each in this order.
verdict run(const std::vector<std::int64_t>& places) {
  parameters values(coop_speed::problem::declare());
  values.set("row", "yield");
  coop_speed::problem work(values.with("strands", 2).with("count", 3));
  for (const std::int64_t place : places) work.take_turn(place);
  return work.check();
}

TEST_CASE("the oracle of coop-speed passes every turn in its place and nothing else") {
  CHECK(run({0, 1, 2, 3, 4, 5}).ok);
  CHECK_FALSE(run({0, 2, 1, 3, 4, 5}).ok);
  CHECK_FALSE(run({0, 1, 2, 3, 4}).ok);
  CHECK_FALSE(run({0, 1, 2, 4, 5}).ok);
}

}  // namespace heddle::lab::coop_speed_oracle_test
