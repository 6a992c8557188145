#include "workloads/simulator/event_driven.hpp"
#include "workloads/simulator/workload.hpp"

namespace heddle::lab::simulating {
namespace {

void run(problem& work, region& timed) {
  event_driven applications(work.given(), work.happened());
  timed.begin();
  applications.run();
  timed.end();
  for (std::int64_t i = 0; i < applications.waits(); ++i) work.blocked();
}

const model<problem> event_loop_single{"event-loop/single", &run};

}  // namespace
}  // namespace heddle::lab::simulating
