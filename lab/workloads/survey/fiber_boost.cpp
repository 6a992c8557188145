#include "heddle/coop/context/boost_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_boost{"fiber/boost", &fibers<coop::boost_context>::run};

}  // namespace heddle::lab::surveying
