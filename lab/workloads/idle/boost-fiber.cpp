// Boost.Fiber. Stacks of 16 KB from the heap: of its own default (128 KB, each mapped) 100 000
// fibers are more mappings than a process may have, and its pool touches a page more of each.
#include <boost/fiber/all.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "workloads/idle/workload.hpp"

namespace heddle::lab::idling {
namespace {

void run(problem& work, region&) {
  namespace fibers = boost::fibers;
  if (work.strands() > 100'000) {
    throw cannot_run(
        "a million of Boost.Fiber's take 22 s to make and to end: what one takes is seen at fewer");
  }
  work.measure_empty();
  fibers::fixedsize_stack stacks(16 * 1024);
  fibers::mutex mutex;
  fibers::condition_variable opened;
  bool open = false;
  std::vector<fibers::fiber> alive;
  for (std::int64_t i = 0; i < work.strands() && work.room(i); ++i) {
    // Runs at once, until it waits.
    alive.emplace_back(fibers::launch::dispatch, std::allocator_arg, stacks, [&] {
      std::unique_lock lock(mutex);
      opened.wait(lock, [&] { return open; });
      work.ended();
    });
  }
  work.measure_full(static_cast<std::int64_t>(alive.size()));
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  opened.notify_all();
  for (auto& each : alive) each.join();
}

const model<problem> boost_fiber{"boost-fiber", &run};

}  // namespace
}  // namespace heddle::lab::idling
