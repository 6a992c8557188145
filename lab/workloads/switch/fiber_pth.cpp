#include "heddle/coop/context/pth_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {

const model<problem> fiber_pth{"fiber/pth", &fibers<coop::pth_context>::run};

}  // namespace heddle::lab::switching
