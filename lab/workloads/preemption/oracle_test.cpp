#include <doctest/doctest.h>

#include "workloads/preemption/workload.hpp"

namespace heddle::lab::preemption_oracle_test {

// Two hogs of a hundred steps, `hogs` of which compute, one after the other.
verdict run(int hogs, int wakes, std::int64_t promised_lead) {
  const parameters values(preemption::problem::declare());
  preemption::problem work(values.with("hogs", 2).with("steps", 100));
  for (int hog = 0; hog < hogs; ++hog) work.compute(hog, [](std::int64_t) {});
  for (int i = 0; i < wakes; ++i) work.woken(1);
  work.promise_fairness(promised_lead);
  return work.check();
}

TEST_CASE("the oracle of preemption wants all hogs' results, the sleeper, and promised fairness") {
  CHECK(run(2, 1, 100).ok);
  CHECK_FALSE(run(1, 1, 100).ok);
  CHECK_FALSE(run(2, 0, 100).ok);
  CHECK_FALSE(run(2, 1, 10).ok);
}

}  // namespace heddle::lab::preemption_oracle_test
