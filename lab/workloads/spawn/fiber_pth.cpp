#include "heddle/coop/context/pth_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {

const model<problem> fiber_pth{"fiber/pth", &fibers<coop::pth_context>::run};

}  // namespace heddle::lab::spawning
