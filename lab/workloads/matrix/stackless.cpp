#include "heddle/coop/generator.hpp"
#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {
namespace {

// "C++20 coroutines to represent the matrix multiplication work at the finest level (calculating a
// single element of the result matrix). Each coroutine pauses (yields) after calculating each
// element" (3.2.1). Unoptimised, its variables live in the coroutine's frame, and the innermost
// loop reads its pointer from the stack before each of them.
coop::generator<int> by_element(int** a, int** b, int** c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
      co_yield sum;
    }
  }
}

// Yields as often as by_element(), but the innermost loop is an ordinary function's.
coop::generator<int> by_dot(const problem& work) {
  for (int i = 0; i < work.n(); ++i) {
    for (int j = 0; j < work.n(); ++j) {
      work.c.rows()[i][j] = dot(work, i, j);
      co_yield j;
    }
  }
}

coop::generator<int> by_rows(const problem& work) {
  for (int i = 0; i < work.n(); i += work.unit_rows()) {
    multiply_rows(work, i, std::min(i + work.unit_rows(), work.n()));
    co_yield i;
  }
}

coop::generator<int> product(const problem& work) {
  switch (work.unit()) {
    case grain::element:
      return by_element(work.a.rows(), work.b.rows(), work.c.rows(), work.n());
    case grain::dot:
      return by_dot(work);
    case grain::row:
    case grain::block:
      break;
  }
  return by_rows(work);
}

// The driver has nothing else to resume: it resumes the coroutine until it is done.
void run(problem& work, region&) {
  std::uint64_t units = 0;
  auto all = product(work);
  for (auto at = all.begin(); at != all.end(); ++at) ++units;
  count().strand_switches += 2 * units;  // to the coroutine and back
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::matrix
