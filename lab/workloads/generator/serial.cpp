// No way out of the walk: it calls the loop's body.
#include "workloads/generator/workload.hpp"

namespace heddle::lab::generating {
namespace {

[[gnu::noinline]] void walk(problem& work, std::int64_t first, std::int64_t last) {
  const std::int64_t node = middle(first, last);
  if (first < node) walk(work, first, node - 1);
  work.take(node);
  if (node < last) walk(work, node + 1, last);
}

void run(problem& work, region&) { walk(work, 1, work.items()); }

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::generating
