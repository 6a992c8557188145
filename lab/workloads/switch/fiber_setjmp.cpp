#include "heddle/coop/context/setjmp_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {

const model<problem> fiber_setjmp{"fiber/setjmp", &fibers<coop::setjmp_context>::run};

}  // namespace heddle::lab::switching
