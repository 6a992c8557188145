// Boost.Fiber with its round-robin scheduler: through its ready queue.
#include <boost/fiber/all.hpp>
#include <vector>

#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

void run(problem& work, region& timed) {
  std::vector<boost::fibers::fiber> strands;
  for (int i = 0; i < work.contexts(); ++i) {
    strands.emplace_back(boost::fibers::launch::post, [&work, &timed, i] {
      turns mine = work.turns_of(i);
      boost::this_fiber::yield();  // until all have started
      if (i == 0) timed.begin();
      for (std::int64_t turn = 0; turn < work.counter(); ++turn) {
        mine.take();
        boost::this_fiber::yield();
      }
      if (i == 0) timed.end();
      work.finish(mine);
    });
  }
  for (auto& each : strands) each.join();
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
}

const model<problem> boost_fiber{"boost-fiber", &run};

}  // namespace
}  // namespace heddle::lab::switching
