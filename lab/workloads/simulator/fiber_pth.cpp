#include "heddle/coop/context/pth_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {

const model<problem> fiber_pth{"fiber/pth", &fiber<coop::pth_context>::run};

}  // namespace heddle::lab::simulating
