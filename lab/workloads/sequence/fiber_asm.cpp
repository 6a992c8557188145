#include "heddle/coop/context/asm_context.hpp"
#include "workloads/sequence/fibers.hpp"

namespace heddle::lab::sequence {

const model<problem> fiber_asm{"fiber/asm", &fibers<coop::asm_context>::run};

}  // namespace heddle::lab::sequence
