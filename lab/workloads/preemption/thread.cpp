#include <chrono>
#include <thread>

#include "harness/team.hpp"
#include "workloads/preemption/workload.hpp"

namespace heddle::lab::preemption {
namespace {

void run(problem& work, region& timed) {
  run_on_threads(timed, work.hogs() + 1, [&work](int strand) {
    if (strand < work.hogs()) return work.compute(strand, [](std::int64_t) {});
    do {
      const auto due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(work.sleep_ns());
      std::this_thread::sleep_until(due);
      work.woken((std::chrono::steady_clock::now() - due).count());
    } while (work.computing());
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::preemption
