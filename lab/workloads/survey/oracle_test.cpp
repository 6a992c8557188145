#include <doctest/doctest.h>

#include <stdexcept>

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

TEST_CASE("what Valgrind says is told apart by whether it knew the stacks") {
  const auto says = surveying::parse_memcheck(
      "==7== Memcheck\n"
      "**7** heddle: stacks are deregistered; errors so far: 2\n"
      "==7== Warning: client switching stacks?  SP change: 0x1ffe --> 0x5e9f\n"
      "==7== ERROR SUMMARY: 1,003 errors from 5 contexts (suppressed: 0 from 0)\n");
  CHECK(says.told.errors == 2);
  CHECK_FALSE(says.told.switching_stacks);
  CHECK(says.untold.errors == 1001);
  CHECK(says.untold.switching_stacks);
}

TEST_CASE("Valgrind warns of a library's stacks from the first one on") {
  const auto says = surveying::parse_memcheck(
      "==7== Warning: client switching stacks?  SP change: 0x1ffe --> 0x5e9f\n"
      "**7** heddle: stacks are deregistered; errors so far: 0\n"
      "==7== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)\n");
  CHECK(says.told.switching_stacks);
  CHECK(says.untold.switching_stacks);
}

TEST_CASE("a log of Valgrind without our line is an error") {
  CHECK_THROWS_AS(static_cast<void>(surveying::parse_memcheck("==7== ERROR SUMMARY: 0 errors")),
                  std::runtime_error);
}

}  // namespace heddle::lab::survey_oracle_test
