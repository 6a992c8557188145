#include "harness/strand_kinds.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// Through our scheduler's ready queue, as a goroutine goes through Go's and a tokio task
// through tokio's.
void run(problem& work, region& timed) {
  coop::scheduler s;
  for (int i = 0; i < work.contexts(); ++i) {
    s.spawn([&work, &timed, i]() -> STRAND {
      turns mine = work.turns_of(i);
      WAIT(coop::yield());  // until all have started
      if (i == 0) timed.begin();
      for (std::int64_t turn = 0; turn < work.counter(); ++turn) {
        mine.take();
        WAIT(coop::yield());
      }
      if (i == 0) timed.end();
      work.finish(mine);
    });
  }
  s.run();
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::switching
