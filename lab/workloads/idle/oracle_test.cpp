#include <doctest/doctest.h>

#include <cerrno>

#include "workloads/idle/workload.hpp"

namespace heddle::lab::idle_oracle_test {

// Three strands: `early` of them ended before the others were let go, `alive` waited at once, and
// `altogether` ended in all.
verdict run(std::int64_t early, std::int64_t alive, std::int64_t altogether, int error = 0) {
  const parameters values(idling::problem::declare());
  idling::problem work(values.with("strands", 3));
  work.measure_empty();
  work.ended(early);
  if (error != 0) work.refused(error);
  work.measure_full(alive);
  for (std::int64_t i = early; i < altogether; ++i) work.ended();
  return work.check();
}

TEST_CASE("the oracle of idle wants all strands to wait at once, or a reason") {
  CHECK(run(0, 3, 3).ok);
  CHECK_FALSE(run(1, 3, 3).ok);
  CHECK_FALSE(run(0, 3, 2).ok);
  CHECK_FALSE(run(0, 2, 2).ok);
  CHECK(run(0, 2, 2, EAGAIN).ok);
  CHECK(run(0, 2, 2, EAGAIN).checked.find("Resource temporarily unavailable") != std::string::npos);
  CHECK_FALSE(run(0, 0, 0, EAGAIN).ok);
}

}  // namespace heddle::lab::idle_oracle_test
