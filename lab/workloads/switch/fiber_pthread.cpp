#include "heddle/coop/context/pthread_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()) + 1);
  fibers<coop::pthread_context>::run(work, timed);
}

const model<problem> fiber_pthread{"fiber/pthread", &run};

}  // namespace
}  // namespace heddle::lab::switching
