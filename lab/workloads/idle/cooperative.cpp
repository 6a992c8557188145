#include "harness/strand_kinds.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "workloads/idle/workload.hpp"

namespace heddle::lab::idling {
namespace {

void run(problem& work, region&) {
  work.measure_empty();
  coop::scheduler s;
  coop::semaphore gate(0, "gate");
  std::int64_t alive = 0;
  for (; alive < work.strands() && work.room(alive); ++alive) {
    s.spawn([&]() -> STRAND {
      WAIT(gate.P());
      work.ended();
    });
  }
  s.spawn([&]() -> STRAND {  // has its turn when all the others wait
    work.measure_full(alive);
    for (std::int64_t i = 0; i < alive; ++i) gate.V();
    RETURN;
  });
  s.run();
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::idling
