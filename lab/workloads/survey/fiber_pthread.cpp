#include "heddle/coop/context/pthread_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_pthread{"fiber/pthread", &fibers<coop::pthread_context>::run};

}  // namespace heddle::lab::surveying
