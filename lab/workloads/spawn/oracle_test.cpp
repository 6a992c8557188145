#include <doctest/doctest.h>

#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawn_oracle_test {

verdict run(const std::vector<std::int64_t>& strands) {
  const parameters values(spawning::problem::declare());
  spawning::problem work(values.with("strands", 3));
  for (const std::int64_t strand : strands) {
    if (strand % 2 == 0) {
      work.ran(strand);
    } else {
      work.ran_somewhere(strand);
    }
  }
  return work.check();
}

TEST_CASE("the oracle of spawn passes each strand once, in any order") {
  CHECK(run({0, 1, 2}).ok);
  CHECK(run({2, 0, 1}).ok);
  CHECK_FALSE(run({0, 1}).ok);
  CHECK_FALSE(run({0, 1, 1}).ok);
  CHECK_FALSE(run({0, 1, 2, 0}).ok);
}

}  // namespace heddle::lab::spawn_oracle_test
