#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {

const model<problem> fiber_asm{"fiber/asm",
                               [](problem& work, region& timed) { api::run(work, timed, "asm"); }};

}  // namespace heddle::lab::deleting
