#include "workloads/switch/thread_ring.hpp"

namespace heddle::lab::switching {
namespace {

// All on the processor that the problem chose.
void run(problem& work, region& timed) {
  run_thread_ring(work, timed, [](int) {});
}

const model<problem> thread_futex{"thread/futex", &run};

}  // namespace
}  // namespace heddle::lab::switching
