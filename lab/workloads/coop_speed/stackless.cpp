// Bare C++20 coroutines: no scheduler, a loop over the handles.
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

coop::task<> begin_and_end(problem& work) {
  work.did_one();
  co_return;
}

void spawns(problem& work) {
  std::vector<coop::task<>> strands;
  strands.reserve(static_cast<std::size_t>(work.strands()));
  for (std::int64_t batch = 0; batch < work.count(); ++batch) {
    for (std::int64_t i = 0; i < work.strands(); ++i) strands.push_back(begin_and_end(work));
    for (const auto& each : strands) each.resume();
    strands.clear();
  }
}

coop::task<> wait_once(problem& work) {
  co_await std::suspend_always{};
  work.did_one();
}

void idle(problem& work) {
  work.measure_empty();
  std::vector<coop::task<>> strands;
  for (std::int64_t i = 0; i < work.strands(); ++i) {
    strands.push_back(wait_once(work));
    strands.back().resume();
  }
  work.measure_full();
  for (const auto& each : strands) each.resume();
}

void run(problem& work, region& timed) {
  if (work.row() == "spawn") return spawns(work);
  if (work.row() == "idle") return idle(work);
  if (work.row() != "yield") {
    throw usage_error("stackless has no scheduler: only --row=yield, spawn or idle");
  }
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
