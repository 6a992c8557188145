#include "heddle/coop/context/setjmp_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {

const model<problem> fiber_setjmp{"fiber/setjmp", &fiber<coop::setjmp_context>::run};

}  // namespace heddle::lab::simulating
