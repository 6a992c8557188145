#include "heddle/coop/context/pth_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_pth{"fiber/pth", &fibers<coop::pth_context>::run};

}  // namespace heddle::lab::surveying
