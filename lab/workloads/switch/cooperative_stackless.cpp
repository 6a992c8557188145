#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// Through our scheduler's ready queue, as a tokio task goes through tokio's.
void run(problem& work, region& timed) {
  coop::scheduler s;
  for (int i = 0; i < work.contexts(); ++i) {
    s.spawn([&work, &timed, i]() -> coop::task<> {
      turns mine = work.turns_of(i);
      co_await coop::yield();  // until all have started
      if (i == 0) timed.begin();
      for (std::int64_t turn = 0; turn < work.counter(); ++turn) {
        mine.take();
        co_await coop::yield();
      }
      if (i == 0) timed.end();
      work.finish(mine);
    });
  }
  s.run();
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::switching
