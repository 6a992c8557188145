#include "heddle/coop/context/setjmp_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_setjmp{"fiber/setjmp", &fibers<coop::setjmp_context>::run};

}  // namespace heddle::lab::surveying
