#include "heddle/coop/concurrent.hpp"

#include <optional>

#include "workloads/preemption/strands.hpp"

namespace heddle::lab::preemption {
namespace {

void run(problem& work, region&) {
  coop::scheduler s;
  std::optional<coop::concurrent> processes;
  if (work.slice_steps() > 0) {
    processes.emplace(s, coop::checkpoints{static_cast<std::uint32_t>(work.slice_steps())});
    work.promise_fairness(work.slice_steps());
  } else {
    processes.emplace(s, coop::duration(work.slice_ns()));
  }
  run_on(s, work, [](std::int64_t) { coop::await(coop::checkpoint()); });
  count().strand_switches += processes->switches();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::preemption
