#include "workloads/deletion/api.hpp"

namespace heddle::lab::deleting {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()) + 1);
  api::run(work, timed, "pthread");
}

const model<problem> fiber_pthread{"fiber/pthread", &run};

}  // namespace
}  // namespace heddle::lab::deleting
