#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// A yield without another strand to yield to is just a call.
[[gnu::noinline]] void yield(turns& mine) { mine.take(); }

void run(problem& work, region& timed) {
  std::vector<turns> strands;
  for (int i = 0; i < work.contexts(); ++i) strands.push_back(work.turns_of(i));
  timed.begin();
  for (std::int64_t round = 0; round < work.counter(); ++round) {
    for (turns& each : strands) yield(each);
  }
  timed.end();
  for (const turns& each : strands) work.finish(each);
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::switching
