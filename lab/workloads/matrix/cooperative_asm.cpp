#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {
namespace {

using namespace coop;

void by_element(int** a, int** b, int** c, int n, share mine) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
      await(yield());
    }
  }
}

void by_dot(const problem& work, share mine) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < work.n(); ++j) {
      work.c.rows()[i][j] = dot(work, i, j);
      await(yield());
    }
  }
}

void by_rows(const problem& work, share mine) {
  for (int i = mine.first; i < mine.last; i += work.unit_rows()) {
    multiply_rows(work, i, std::min(i + work.unit_rows(), mine.last));
    await(yield());
  }
}

// As many fibers as there are threads in the threads' program, on one processor; each lets the
// others run after each unit.
void run(problem& work, region&) {
  scheduler s;
  for (int i = 0; i < work.threads(); ++i) {
    s.spawn([&work, mine = share(work, i, work.threads())] {
      switch (work.unit()) {
        case grain::element:
          return by_element(work.a.rows(), work.b.rows(), work.c.rows(), work.n(), mine);
        case grain::dot:
          return by_dot(work, mine);
        case grain::row:
        case grain::block:
          return by_rows(work, mine);
      }
    });
  }
  s.run();
  count().strand_switches += work.units();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::matrix
