#include "heddle/coop/context/pthread_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {
namespace {

// One runs at a time, though each is a thread: no atomic tally is needed.
void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.outstanding()) + 1);
  fibers<coop::pthread_context>::run(work, timed);
}

const model<problem> fiber_pthread{"fiber/pthread", &run};

}  // namespace
}  // namespace heddle::lab::spawning
