#include <doctest/doctest.h>

#include "workloads/sync_costs/workload.hpp"

namespace heddle::lab::sync_costs_oracle_test {

sync_costs::problem three(std::string_view operation) {
  parameters values(sync_costs::problem::declare());
  values.set("operation", operation);
  return sync_costs::problem(values.with("count", 3));
}

TEST_CASE("the oracle of sync-costs wants every operation, and no permit lost") {
  for (const auto& [operation, done, permits] :
       {std::tuple{"p", 3, 0U}, {"p", 2, 0U}, {"p", 3, 1U}, {"v", 3, 3U}, {"v", 3, 2U}}) {
    CAPTURE(operation);
    CAPTURE(permits);
    auto work = three(operation);
    work.did(done);
    work.permits(permits);
    const bool right = done == 3 && permits == (*operation == 'v' ? 3U : 0U);
    CHECK(work.check().ok == right);
  }
}

TEST_CASE("the oracle of sync-costs wants hand-overs in turn") {
  for (const auto& order : {std::vector{0, 1, 2}, {1, 0, 2}, {0, 1}, {0, 1, 1}}) {
    auto work = three("handoff");
    for (const int place : order) work.take_turn(place);
    CHECK(work.check().ok == (order == std::vector{0, 1, 2}));
  }
}

TEST_CASE("the oracle of sync-costs wants yields that the kernel switched at") {
  for (const std::uint64_t switches : {0U, 1U, 2U, 3U, 30U}) {
    auto work = three("yield");
    work.did(3);
    work.kernel_switched(switches);
    CHECK(work.check().ok == (switches >= 2));
  }
  auto ours = three("yield");
  ours.did(3);
  CHECK(ours.check().ok);
}

}  // namespace heddle::lab::sync_costs_oracle_test
