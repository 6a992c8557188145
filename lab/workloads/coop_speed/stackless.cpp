// The bare C++20 resume: no scheduler, a loop over the handles.
#include <coroutine>
#include <vector>

#include "harness/parameters.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/coop_speed/workload.hpp"

namespace heddle::lab::coop_speed {
namespace {

coop::task<> yields(problem& work, std::int64_t index) {
  const std::int64_t step = work.strands();
  const std::int64_t end = work.strands() * work.count();
  for (std::int64_t place = index; place < end; place += step) {
    work.take_turn(place);
    co_await std::suspend_always{};
  }
}

void run(problem& work, region& timed) {
  if (work.row() != "yield") throw usage_error("stackless has no scheduler: only --row=yield");
  std::vector<coop::task<>> strands;
  for (std::int64_t i = 0; i < work.strands(); ++i) strands.push_back(yields(work, i));
  timed.begin();
  for (std::int64_t round = 0; round < work.count(); ++round) {
    for (const auto& each : strands) each.resume();
  }
  timed.end();
}

const model<problem> registered{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::coop_speed
