#include "heddle/coop/context/setjmp_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {

const model<problem> fiber_setjmp{"fiber/setjmp", &fibers<coop::setjmp_context>::run};

}  // namespace heddle::lab::spawning
