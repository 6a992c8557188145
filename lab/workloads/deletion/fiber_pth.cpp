#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {

const model<problem> fiber_pth{"fiber/pth",
                               [](problem& work, region& timed) { api::run(work, timed, "pth"); }};

}  // namespace heddle::lab::deleting
