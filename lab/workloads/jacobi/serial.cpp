#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

// The whole grid is one strip, and there is no other strand to meet.
void run(problem& work, region&) {
  for (std::int64_t k = 0;; ++k) {
    double largest = 0;
    for (int row = 1; row <= work.n(); ++row) largest = std::max(largest, work.relax(k, row));
    work.changed(k, 0, largest);
    if (work.done(k)) return work.finished(k + 1);
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
