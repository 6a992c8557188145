#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

void run(problem& work, region&) {
  unprotected shorter(work);
  std::uint64_t nodes = 0;
  for (const tour& task : work.tasks()) {
    nodes += search(work.cities(), task, work.bound(), shorter);
  }
  work.worked(0, work.tasks().size(), nodes);
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::tsp
