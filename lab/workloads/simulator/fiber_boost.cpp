#include "heddle/coop/context/boost_context.hpp"
#include "workloads/simulator/fibers.hpp"

namespace heddle::lab::simulating {

const model<problem> fiber_boost{"fiber/boost", &fiber<coop::boost_context>::run};

}  // namespace heddle::lab::simulating
