#include "heddle/coop/context/asm_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {

const model<problem> fiber_asm{"fiber/asm", &fibers<coop::asm_context>::run};

}  // namespace heddle::lab::spawning
