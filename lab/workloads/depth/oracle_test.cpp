#include <doctest/doctest.h>

#include "workloads/depth/workload.hpp"

namespace heddle::lab::depth_oracle_test {

verdict run(std::initializer_list<std::int64_t> sums) {
  const parameters values(depth::problem::declare());
  depth::problem work(values.with("depth", 4));
  for (const std::int64_t sum : sums) work.take(sum);
  return work.check();
}

TEST_CASE("the oracle of call chains wants each chain's sum") {
  CHECK(depth::sum(3) == 6);
  const auto nothing = [] {};
  CHECK(depth::sum_by_calls(3, nothing) == 6);
  CHECK(run({6, 6}).ok);
  CHECK_FALSE(run({}).ok);
  CHECK_FALSE(run({6, 10}).ok);
  CHECK_FALSE(run({0, 6}).ok);
}

}  // namespace heddle::lab::depth_oracle_test
