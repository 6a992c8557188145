#include "heddle/coop/context/ucontext_context.hpp"
#include "workloads/idle/fibers.hpp"

namespace heddle::lab::idling {

const model<problem> fiber_ucontext{"fiber/ucontext", &fibers<coop::ucontext_context>::run};

}  // namespace heddle::lab::idling
