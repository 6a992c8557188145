#include "workloads/redis/workload.hpp"

namespace heddle::lab::redis {
namespace {

void run(problem& work, region& timed) { work.run_untraced(timed); }

const model<problem> registered{"untraced", &run};

}  // namespace
}  // namespace heddle::lab::redis
