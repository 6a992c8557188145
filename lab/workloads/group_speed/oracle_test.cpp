#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed_oracle_test {

group_speed::problem problem_of(std::string_view row) {
  parameters values(group_speed::problem::declare());
  values.set("row", row);
  return group_speed::problem(values.with("count", 5));
}

// Five turns of two sides, who take them in this order.
verdict run(const std::vector<std::int64_t>& places) {
  group_speed::problem work = problem_of("handoff");
  for (const std::int64_t place : places) {
    work.take_turn(static_cast<std::size_t>(place % 2), place);
  }
  return work.check();
}

verdict wake(int times) {
  group_speed::problem work = problem_of("wake");
  for (int i = 0; i < times; ++i) {
    work.about_to_wake();
    work.woke();
  }
  return work.check();
}

TEST_CASE("the oracle of group-speed passes every turn in its place, and every wake-up") {
  CHECK(run({0, 1, 2, 3, 4}).ok);
  CHECK_FALSE(run({0, 1, 2, 3}).ok);
  CHECK_FALSE(run({0, 1, 4, 3, 2}).ok);
  CHECK_FALSE(run({0, 1, 2, 3, 4, 6}).ok);
  CHECK(wake(5).ok);
  CHECK_FALSE(wake(4).ok);
}

}  // namespace heddle::lab::group_speed_oracle_test
