#include "heddle/coop/context/asm_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_asm{"fiber/asm", &fibers<coop::asm_context>::run};

}  // namespace heddle::lab::surveying
