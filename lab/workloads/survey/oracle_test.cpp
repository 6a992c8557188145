#include <doctest/doctest.h>

#include "workloads/survey/workload.hpp"

namespace heddle::lab::survey_oracle_test {

verdict run(int turns, bool shows_limits, bool shows_suspended) {
  const parameters values(surveying::problem::declare());
  surveying::problem work(values.with("yields", 3));
  for (int i = 0; i < turns; ++i) work.take_turn();
  if (shows_limits) work.found({});
  if (shows_suspended) {
    work.look_before();
    work.look_at();
  }
  return work.check();
}

TEST_CASE("the oracle of survey wants every turn and every demonstration") {
  CHECK(run(3, true, true).ok);
  CHECK_FALSE(run(2, true, true).ok);
  CHECK_FALSE(run(4, true, true).ok);
  CHECK_FALSE(run(3, false, true).ok);
  CHECK_FALSE(run(3, true, false).ok);
}

}  // namespace heddle::lab::survey_oracle_test
