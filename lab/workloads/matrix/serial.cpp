#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {
namespace {

void multiply(int** a, int** b, int** c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}

void run(problem& work, region&) {
  if (work.unit() == grain::element) {
    multiply(work.a.rows(), work.b.rows(), work.c.rows(), work.n());
  } else {
    multiply_rows(work, 0, work.n());
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::matrix
