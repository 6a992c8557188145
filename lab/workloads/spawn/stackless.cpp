#include <vector>

#include "heddle/coop/task.hpp"
#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

coop::task<> strand(problem& work, std::int64_t number) {
  work.ran(number);
  co_return;
}

void run(problem& work, region&) {
  std::vector<coop::task<>> alive;
  alive.reserve(static_cast<std::size_t>(work.outstanding()));
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) alive.push_back(strand(work, i));
    for (const auto& each : alive) each.resume();
    alive.clear();
  });
  count().strand_switches += static_cast<std::uint64_t>(2 * work.strands());
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::spawning
