// Kernel threads, all on one processor.
#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>

#include "workloads/coop_speed/monitor.hpp"
#include "workloads/coop_speed/peer.hpp"

namespace heddle::lab::coop_speed {
namespace {

struct threads {
  using strand = std::thread;
  using channel =
      monitor_channel<std::mutex, std::condition_variable, std::unique_lock<std::mutex>>;

  class semaphore {
   public:
    explicit semaphore(int permits) : permits_(permits) {}
    void P() { permits_.acquire(); }
    void V() { permits_.release(); }

   private:
    std::counting_semaphore<> permits_;
  };

  template <class Body>
  static void enter(Body body) {
    body();
  }
  template <class Body>
  static strand spawn(Body body) {
    return std::thread(std::move(body));
  }
  static void yield() { sched_yield(); }
};

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.strands()) + 1);
  peer<threads>::run(work, timed);
}

const model<problem> registered{"thread", &run};

}  // namespace
}  // namespace heddle::lab::coop_speed
