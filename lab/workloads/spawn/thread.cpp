#include <thread>
#include <vector>

#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.outstanding()) + 1);
  std::vector<std::jthread> alive;
  alive.reserve(static_cast<std::size_t>(work.outstanding()));
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      alive.emplace_back([&work, i] { work.ran_somewhere(i); });
    }
    alive.clear();  // joins
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::spawning
