#include <cstdint>
#include <vector>

#include "heddle/coop/duff.h"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// The variables that a switch-statement coroutine keeps across its yields.
struct strand {
  heddle_duff at;
  turns mine;
  std::int64_t i;
};

// Not inline: a scheduler does not know which function it resumes.
[[gnu::noinline]] int yields(strand& self, problem& work) {
  HEDDLE_DUFF_BEGIN(&self.at);
  for (self.i = 0; self.i < work.counter(); ++self.i) {
    self.mine.take();
    HEDDLE_DUFF_YIELD(&self.at);
  }
  work.finish(self.mine);
  HEDDLE_DUFF_END(&self.at);
}

// Returning is the only way to yield, so that it is two switches in either style.
void run(problem& work, region& timed) {
  std::vector<strand> strands;
  strands.reserve(static_cast<std::size_t>(work.contexts()));
  for (int i = 0; i < work.contexts(); ++i) {
    strands.push_back({HEDDLE_DUFF_INIT, work.turns_of(i), 0});
  }
  timed.begin();
  for (std::int64_t round = 0; round <= work.counter(); ++round) {  // in the last, they return
    for (strand& each : strands) yields(each, work);
  }
  timed.end();
  work.switches_per_yield(2);
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter() * 2);
}

const model<problem> stackless_duff{"stackless/duff", &run};

}  // namespace
}  // namespace heddle::lab::switching
