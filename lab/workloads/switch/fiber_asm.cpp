#include "heddle/coop/context/asm_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {

const model<problem> fiber_asm{"fiber/asm", &fibers<coop::asm_context>::run};

}  // namespace heddle::lab::switching
