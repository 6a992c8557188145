#include "heddle/coop/context/ucontext_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {

const model<problem> fiber_ucontext{"fiber/ucontext", &fibers<coop::ucontext_context>::run};

}  // namespace heddle::lab::switching
