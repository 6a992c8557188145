#include "workloads/preemption/strands.hpp"

namespace heddle::lab::preemption {
namespace {

void run(problem& work, region&) {
  coop::scheduler s;
  const std::int64_t every = work.yield_steps();
  if (every > 0) work.promise_fairness(every);
  run_on(s, work, [every](std::int64_t steps) {
    if (every > 0 && steps % every == 0) {
      coop::await(coop::yield());
      ++count().strand_switches;
    }
  });
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::preemption
