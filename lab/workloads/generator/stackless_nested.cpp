// The way of C++20 without a recursive generator: each level yields the items of the level below
// again.
#include "heddle/coop/generator.hpp"
#include "workloads/generator/workload.hpp"

namespace heddle::lab::generating {
namespace {

coop::generator<std::int64_t> walk(std::int64_t first, std::int64_t last) {
  const std::int64_t node = middle(first, last);
  if (first < node) {
    for (const std::int64_t item : walk(first, node - 1)) co_yield item;
  }
  co_yield node;
  if (node < last) {
    for (const std::int64_t item : walk(node + 1, last)) co_yield item;
  }
}

void run(problem& work, region&) {
  for (const std::int64_t item : walk(1, work.items())) work.take(item);
}

const model<problem> nested{"stackless/nested", &run};

}  // namespace
}  // namespace heddle::lab::generating
