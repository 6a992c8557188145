#include "heddle/coop/context/ucontext_context.hpp"
#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {

const model<problem> fiber_ucontext{"fiber/ucontext", &fibers<coop::ucontext_context>::run};

}  // namespace heddle::lab::surveying
