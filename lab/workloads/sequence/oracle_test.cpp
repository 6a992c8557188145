#include <doctest/doctest.h>

#include <vector>

#include "workloads/sequence/workload.hpp"

namespace heddle::lab::sequence_oracle_test {

verdict run(const std::vector<std::vector<std::int64_t>>& generators) {
  const parameters values(sequence::problem::declare());
  sequence::problem work(values.with("items", 3));
  for (const auto& items : generators) {
    sequence::taker taken;
    for (const std::int64_t item : items) taken.take(item);
    work.finish(taken);
  }
  return work.check();
}

TEST_CASE("the oracle of counting generators wants each number of each, in order") {
  CHECK(run({{0, 1, 2}, {0, 1, 2}}).ok);
  CHECK_FALSE(run({}).ok);
  CHECK_FALSE(run({{0, 1, 2}, {0, 1}}).ok);
  CHECK_FALSE(run({{0, 1, 2}, {3, 4, 5}}).ok);
  CHECK_FALSE(run({{0, 2, 1}}).ok);
  CHECK_FALSE(run({{0, 1, 2, 3}}).ok);
}

}  // namespace heddle::lab::sequence_oracle_test
