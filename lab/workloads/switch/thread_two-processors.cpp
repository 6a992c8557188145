#include "harness/processors.hpp"
#include "workloads/switch/thread_ring.hpp"

namespace heddle::lab::switching {
namespace {

// Neighbours on different processors: each hand-over wakes a processor that may have gone idle.
void run(problem& work, region& timed) {
  pin_to_processor(1);  // first: where there is none, before there are threads
  run_thread_ring(work, timed, [](int strand) { pin_to_processor(strand % 2); });
}

const model<problem> thread_two_processors{"thread/two-processors", &run};

}  // namespace
}  // namespace heddle::lab::switching
