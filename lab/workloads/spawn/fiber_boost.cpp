#include "heddle/coop/context/boost_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {

const model<problem> fiber_boost{"fiber/boost", &fibers<coop::boost_context>::run};

}  // namespace heddle::lab::spawning
