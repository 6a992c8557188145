#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/preemption/workload.hpp"

namespace heddle::lab::preemption {
namespace {

coop::task<> sleeper(coop::scheduler& s, problem& work) {
  do {
    const coop::time_point due = s.now() + coop::duration(work.sleep_ns());
    co_await coop::sleep_until(due);
    work.woken((s.now() - due).count());
  } while (work.computing());
}

// Computes for as long as it may at a time, then yields.
coop::task<> hog(problem& work, int number) {
  problem::computation steps(work, number);
  const std::int64_t every = work.yield_steps() > 0 ? work.yield_steps() : work.steps();
  while (steps.run(every)) {
    co_await coop::yield();
    ++count().strand_switches;
  }
}

void run(problem& work, region&) {
  if (work.yield_steps() > 0) work.promise_fairness(work.yield_steps());
  coop::scheduler s;
  s.spawn([&]() { return sleeper(s, work); });
  for (int number = 0; number < work.hogs(); ++number) {
    s.spawn([&work, number] { return hog(work, number); });
  }
  s.run();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::preemption
