#include <doctest/doctest.h>

#include "workloads/matrix/workload.hpp"

namespace heddle::lab::matrix_oracle_test {

// With both of the oracle's ways: element by element, and by random vectors.
void multiply(matrix::problem& work) {
  for (int i = 0; i < work.n(); ++i) {
    for (int j = 0; j < work.n(); ++j) {
      int sum = 0;
      for (int k = 0; k < work.n(); ++k) sum += work.a.rows()[i][k] * work.b.rows()[k][j];
      work.c.rows()[i][j] = sum;
    }
  }
}

TEST_CASE("the matrix oracle passes the product, and notices one wrong element") {
  const parameters defaults(matrix::problem::declare());
  for (const int n :
       {1, 20, matrix::problem::full_check_limit, matrix::problem::full_check_limit + 1, 200}) {
    CAPTURE(n);
    matrix::problem work(defaults.with("n", n));
    CHECK_FALSE(work.check().ok);  // nothing computed yet
    multiply(work);
    CHECK(work.check().ok);
    for (const int off_by : {1, -1, 1 << 20}) {
      int& element = work.c.rows()[n / 2][n / 3];
      element += off_by;
      CHECK_FALSE(work.check().ok);
      element -= off_by;
    }
    CHECK(work.check().ok);
    if (n > 1) {
      std::swap(work.c.rows()[0], work.c.rows()[n - 1]);
      CHECK_FALSE(work.check().ok);
      std::swap(work.c.rows()[0], work.c.rows()[n - 1]);
    }
  }
}

}  // namespace heddle::lab::matrix_oracle_test
