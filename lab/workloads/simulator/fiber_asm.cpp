#include "heddle/coop/context/asm_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {

const model<problem> fiber_asm{"fiber/asm", &fiber<coop::asm_context>::run};

}  // namespace heddle::lab::simulating
