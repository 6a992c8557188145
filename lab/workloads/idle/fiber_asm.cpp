#include "heddle/coop/context/asm_context.hpp"
#include "workloads/idle/fibers.hpp"

namespace heddle::lab::idling {

const model<problem> fiber_asm{"fiber/asm", &fibers<coop::asm_context>::run};

}  // namespace heddle::lab::idling
