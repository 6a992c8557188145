#include "heddle/coop/context/ucontext_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {

const model<problem> fiber_ucontext{"fiber/ucontext", &fiber<coop::ucontext_context>::run};

}  // namespace heddle::lab::simulating
