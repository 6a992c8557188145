// Boost.Fiber, its stacks from a pool.
#include <boost/fiber/all.hpp>
#include <memory>
#include <vector>

#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

void run(problem& work, region&) {
  namespace fibers = boost::fibers;
  fibers::pooled_fixedsize_stack stacks(64 * 1024);
  std::vector<fibers::fiber> alive;
  alive.reserve(static_cast<std::size_t>(work.outstanding()));
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      alive.emplace_back(fibers::launch::post, std::allocator_arg, stacks,
                         [&work, i] { work.ran(i); });
    }
    for (auto& each : alive) each.join();
    alive.clear();
  });
}

const model<problem> boost_fiber{"boost-fiber", &run};

}  // namespace
}  // namespace heddle::lab::spawning
