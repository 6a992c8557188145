#include <doctest/doctest.h>

#include "workloads/generator/workload.hpp"

namespace heddle::lab::generator_oracle_test {

verdict run(const std::vector<std::int64_t>& items) {
  const parameters values(generating::problem::declare());
  generating::problem work(values.with("items", 4));
  for (const std::int64_t item : items) work.take(item);
  return work.check();
}

TEST_CASE("the generator's oracle passes every item in order and nothing else") {
  CHECK(run({1, 2, 3, 4}).ok);
  CHECK_FALSE(run({1, 3, 2, 4}).ok);
  CHECK_FALSE(run({1, 2, 3}).ok);
  CHECK_FALSE(run({1, 2, 4}).ok);
  CHECK_FALSE(run({1, 2, 2, 3, 4}).ok);
}

}  // namespace heddle::lab::generator_oracle_test
