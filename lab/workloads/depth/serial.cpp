#include "workloads/depth/workload.hpp"

namespace heddle::lab::depth {
namespace {

void run(problem& work, region& timed) {
  const std::int64_t chains = work.chains();
  const auto nothing = [] {};
  timed.begin();
  for (std::int64_t i = 0; i < chains; ++i) {
    std::int64_t n = work.depth() - 1;
    asm volatile("" : "+r"(n));  // each chain is a chain, not the one before again
    work.take(work.waits() ? sum_by_calls(n, nothing) : sum(n));
  }
  timed.end();
  work.makes_plain_calls();
}

const model<problem> registered{"serial", &run};

}  // namespace
}  // namespace heddle::lab::depth
