#include "harness/team.hpp"
#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {
namespace {

void multiply(int** a, int** b, int** c, int n, int first, int last) {
  for (int i = first; i < last; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}

// "divides the matrix multiplication task into smaller blocks by rows and assigns each block to a
// separate thread" (3.2.1). The threads are part of the task: created and joined in the measured
// time.
void run(problem& work, region& timed) {
  run_on_threads(timed, work.threads(), [&](int i) {
    const share mine(work, i, work.threads());
    if (work.unit() == grain::element) {
      multiply(work.a.rows(), work.b.rows(), work.c.rows(), work.n(), mine.first, mine.last);
    } else {
      multiply_rows(work, mine.first, mine.last);
    }
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::matrix
