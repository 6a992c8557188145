#include <sched.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "workloads/idle/workload.hpp"

namespace heddle::lab::idling {
namespace {

void run(problem& work, region& timed) {
  std::atomic<std::int64_t> begun = 0;
  std::atomic<std::int64_t> ended = 0;
  std::atomic<bool> gate = false;
  std::vector<std::jthread> alive;
  alive.reserve(static_cast<std::size_t>(work.strands()));
  work.measure_empty();
  for (std::int64_t i = 0; i < work.strands() && work.room(i, true); ++i) {
    try {
      alive.emplace_back([&] {
        begun.fetch_add(1, std::memory_order_relaxed);
        gate.wait(false);
        ended.fetch_add(1, std::memory_order_relaxed);
      });
    } catch (const std::system_error& error) {
      work.refused(error.code().value());
      break;
    }
  }
  const auto made = static_cast<std::int64_t>(alive.size());
  timed.kernel_threads(static_cast<std::uint64_t>(made) + 1);
  while (begun.load(std::memory_order_relaxed) < made) sched_yield();
  work.ended(ended.load());  // none
  work.measure_full(made);
  gate = true;
  gate.notify_all();
  alive.clear();  // joins
  work.ended(ended.load());
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::idling
