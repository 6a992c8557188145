#include "harness/strand_kinds.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

void run(problem& work, region&) {
  coop::scheduler s;
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      s.spawn([&work, i]() -> STRAND {
        work.ran(i);
        RETURN;
      });
    }
    s.run();
  });
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::spawning
