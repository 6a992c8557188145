#include <doctest/doctest.h>

#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers_oracle_test {

// Two readers, 0 and 1, and two writers, 2 and 3, each to make one visit: `(0)0` is one of 0.
verdict run(std::string_view steps) {
  const parameters values(readers_writers::problem::declare());
  readers_writers::problem work(
      values.with("readers", 2).with("work", 1).with("steps", 1).with("inside", 0));
  for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
    const int who = steps[i + 1] - '0';
    if (steps[i] == '(') {
      work.work_outside(who, no_checkpoint);
      work.begin(who);
    } else {
      work.end(who);
    }
  }
  return work.check();
}

TEST_CASE("the readers' and writers' oracle passes readers together and writers alone") {
  CHECK(run("(0)0(1)1(2)2(3)3").ok);
  CHECK(run("(2)2(0(1)0)1(3)3").ok);        // readers together
  CHECK_FALSE(run("(0(2)0)2(1)1(3)3").ok);  // a writer came while one read
  CHECK_FALSE(run("(0(2)2)0(1)1(3)3").ok);  // and had gone when the reader ended
  CHECK_FALSE(run("(2(0)0)2(1)1(3)3").ok);  // a reader came while one wrote
  CHECK_FALSE(run("(2(3)2)3(0)0(1)1").ok);  // two writers
  CHECK_FALSE(run("(2(3)3)2(0)0(1)1").ok);  // one inside the other
  CHECK_FALSE(run("(0)0(1)1(2)2").ok);      // a visit is missing
  CHECK_FALSE(run("(0)0(1)1(2)2(3)3(3)3").ok);
}

}  // namespace heddle::lab::readers_writers_oracle_test
