#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "workloads/jacobi/workload.hpp"

namespace heddle::lab::jacobi_oracle_test {

parameters parameters_of(const char* n, const char* epsilon, const char* iterations = "1000000") {
  parameters values(jacobi::problem::declare());
  values.set("n", n);
  values.set("epsilon", epsilon);
  values.set("iterations", iterations);
  return values;
}

void solve(jacobi::problem& work) {
  for (std::int64_t k = 0;; ++k) {
    double largest = 0;
    for (int row = 1; row <= work.n(); ++row) largest = std::max(largest, work.relax(k, row));
    work.changed(k, 0, largest);
    if (work.done(k)) return work.finished(k + 1);
  }
}

TEST_CASE("the Jacobi oracle passes the solution, and notices one wrong bit or iteration") {
  for (const char* iterations : {"1000000", "10", "11"}) {
    CAPTURE(iterations);
    jacobi::problem work(parameters_of("21", "0.001", iterations));
    CHECK_FALSE(work.check().ok);  // nothing computed yet
    solve(work);
    CHECK(work.check().ok);
    for (const auto& [i, j] : {std::tuple{1, 1}, {21, 13}, {0, 3}, {22, 22}}) {
      double& point = work.result().row(i)[j];
      const double right = point;
      point = std::nextafter(right, 10.0);
      CHECK_FALSE(work.check().ok);
      point = right;
    }
    CHECK(work.check().ok);
  }
  jacobi::problem early(parameters_of("21", "0.001"));
  early.relax(0, 1);
  early.finished(1);
  CHECK_FALSE(early.check().ok);
}

TEST_CASE("Jacobi iteration converges to the function that the boundary belongs to") {
  for (const char* n : {"1", "8", "15"}) {
    jacobi::problem work(parameters_of(n, "1e-12"));
    solve(work);
    REQUIRE(work.check().ok);
    const double side = work.n() + 1;
    for (int i = 0; i <= work.n() + 1; ++i) {
      for (int j = 0; j <= work.n() + 1; ++j) {
        CHECK(work.result().row(i)[j] ==
              doctest::Approx((j * j - i * i) / (side * side)).epsilon(1e-8));
      }
    }
  }
}

TEST_CASE("strips divide the rows, staying or moving") {
  for (const char* strips : {"stay", "move"}) {
    for (const char* strands : {"1", "3", "8", "40"}) {
      parameters values = parameters_of("21", "0.001");
      values.set("strips", strips);
      values.set("strands", strands);
      const jacobi::problem work(values);
      for (const std::int64_t iteration : {0, 1}) {
        std::vector<int> times(23);
        for (int strand = 0; strand < work.strands(); ++strand) {
          const auto [first, last] = work.strip_of(strand, iteration);
          for (int row = first; row < last; ++row) ++times[static_cast<std::size_t>(row)];
        }
        CHECK(std::count(times.begin() + 1, times.end() - 1, 1) == 21);
        CHECK(times.front() + times.back() == 0);
      }
      int all = 0;
      for (int group = 0; group < work.groups(); ++group) all += work.group_size(group);
      CHECK(all == work.strands());
    }
  }
}

}  // namespace heddle::lab::jacobi_oracle_test
