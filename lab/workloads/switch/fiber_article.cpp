#include "harness/parameters.hpp"
#include "workloads/deletion/article_context.hpp"
#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {
namespace {

// The FiberContext article's own implementation by pthreads.
void run(problem& work, region& timed) {
  if (work.direct())
    throw usage_error("fiber/article switches by way of a scheduler: --style=scheduler");
  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()) + 1);
  fibers<article_context>::run(work, timed);
}

const model<problem> fiber_article{"fiber/article", &run};

}  // namespace
}  // namespace heddle::lab::switching
