#include "heddle/coop/context/pthread_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(2 * static_cast<std::uint64_t>(work.given().connections) + 1);
  fiber<coop::pthread_context>::run(work, timed);
}

const model<problem> fiber_pthread{"fiber/pthread", &run};

}  // namespace
}  // namespace heddle::lab::simulating
