#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

void run(problem& work, region&) {
  coop::scheduler s;
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      s.spawn([&work, i]() -> coop::task<> {
        work.ran(i);
        co_return;
      });
    }
    s.run();
  });
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::spawning
