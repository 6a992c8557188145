#include "heddle/coop/context/boost_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {

const model<problem> fiber_boost{"fiber/boost", &fibers<coop::boost_context>::run};

}  // namespace heddle::lab::switching
