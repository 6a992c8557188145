#include "harness/team.hpp"
#include "workloads/matrix/workload.hpp"

namespace heddle::lab::matrix {
namespace {

void multiply_rows(int** a, int** b, int** c, int n, int first, int last) {
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
  const int threads = work.threads();
  const int n = work.n();
  run_on_threads(timed, threads, [&](int i) {
    // Blocks differ by one row at most; with more threads than rows, some are empty.
    const auto bound = [&](int block) {
      return static_cast<int>(static_cast<std::int64_t>(n) * block / threads);
    };
    multiply_rows(work.a.rows(), work.b.rows(), work.c.rows(), n, bound(i), bound(i + 1));
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::matrix
