#include <coroutine>
#include <vector>

#include "heddle/coop/task.hpp"
#include "workloads/idle/workload.hpp"

namespace heddle::lab::idling {
namespace {

coop::task<> strand(problem& work) {
  co_await std::suspend_always{};
  work.ended();
}

void run(problem& work, region&) {
  work.measure_empty();
  std::vector<coop::task<>> alive;
  alive.reserve(static_cast<std::size_t>(work.strands()));
  for (std::int64_t i = 0; i < work.strands() && work.room(i); ++i) {
    alive.push_back(strand(work));
    alive.back().resume();
  }
  work.measure_full(static_cast<std::int64_t>(alive.size()));
  for (const auto& each : alive) each.resume();
  count().strand_switches += 4 * alive.size();
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::idling
