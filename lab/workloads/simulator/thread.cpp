#include <thread>

#include "harness/baton.hpp"
#include "workloads/simulator/processes.hpp"

namespace heddle::lab::simulating {
namespace {

// A kernel thread an application, and futexes to hand over: the cheapest way to have one of them
// run at a time.
class handed_over {
 public:
  explicit handed_over(process<handed_over>& runs)
      : thread_([this, &runs] {
          (void)mine_.take();
          runs.main();
          (void)event_loops_.give();
        }) {}

  void start() { resume(); }
  void resume() {
    (void)mine_.give();
    (void)event_loops_.take();
  }
  void suspend() {
    (void)event_loops_.give();
    (void)mine_.take();
  }

 private:
  baton<FUTEX_PRIVATE_FLAG> mine_;
  baton<FUTEX_PRIVATE_FLAG> event_loops_;
  std::jthread thread_;
};

void run(problem& work, region& timed) {
  timed.kernel_threads(2 * static_cast<std::uint64_t>(work.given().connections) + 1);
  run_processes<handed_over>(work, timed);
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::simulating
