#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {

const model<problem> fiber_boost{
    "fiber/boost", [](problem& work, region& timed) { api::run(work, timed, "boost"); }};

}  // namespace heddle::lab::deleting
