#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {

const model<problem> fiber_ucontext{
    "fiber/ucontext", [](problem& work, region& timed) { api::run(work, timed, "ucontext"); }};

}  // namespace heddle::lab::deleting
