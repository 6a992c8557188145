#include "heddle/coop/generator.hpp"
#include "workloads/matrix/workload.hpp"

namespace heddle::lab::matrix {
namespace {

// "C++20 coroutines to represent the matrix multiplication work at the finest level (calculating a
// single element of the result matrix). Each coroutine pauses (yields) after calculating each
// element" (3.2.1).
coop::generator<int> multiply(int** a, int** b, int** c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
      co_yield sum;
    }
  }
}

// The driver has nothing else to resume: it resumes the coroutine until it is done.
void run(problem& work, region&) {
  std::uint64_t elements = 0;
  auto product = multiply(work.a.rows(), work.b.rows(), work.c.rows(), work.n());
  for (auto at = product.begin(); at != product.end(); ++at) ++elements;
  count().strand_switches += 2 * elements;  // to the coroutine and back
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::matrix
