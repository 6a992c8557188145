#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {

const model<problem> fiber_setjmp{
    "fiber/setjmp", [](problem& work, region& timed) { api::run(work, timed, "setjmp"); }};

}  // namespace heddle::lab::deleting
