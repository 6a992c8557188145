#include "heddle/coop/context/boost_context.hpp"
#include "workloads/sequence/fibers.hpp"

namespace heddle::lab::sequence {

const model<problem> fiber_boost{"fiber/boost", &fibers<coop::boost_context>::run};

}  // namespace heddle::lab::sequence
