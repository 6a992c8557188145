#include "heddle/coop/context/ucontext_context.hpp"
#include "workloads/spawn/fibers.hpp"

namespace heddle::lab::spawning {

const model<problem> fiber_ucontext{"fiber/ucontext", &fibers<coop::ucontext_context>::run};

}  // namespace heddle::lab::spawning
