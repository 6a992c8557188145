#include "heddle/coop/recursive_generator.hpp"
#include "workloads/generator/workload.hpp"

namespace heddle::lab::generating {
namespace {

coop::recursive_generator<std::int64_t> walk(std::int64_t first, std::int64_t last) {
  const std::int64_t node = middle(first, last);
  if (first < node) co_yield walk(first, node - 1);
  co_yield node;
  if (node < last) co_yield walk(node + 1, last);
}

void run(problem& work, region&) {
  for (const std::int64_t item : walk(1, work.items())) work.take(item);
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::generating
