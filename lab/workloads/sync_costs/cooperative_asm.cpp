#include "harness/processes.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/sync_costs/stackful.hpp"

namespace heddle::lab::sync_costs {
namespace {

struct fibers {
  class semaphore : public counted_semaphore {
   public:
    using counted_semaphore::counted_semaphore;
    void P() { coop::await(counted_semaphore::P()); }
  };
  coop::scheduler scheduler;

  template <class Body>
  void run(int count, const Body& body) {
    for (int who = 0; who < count; ++who) {
      scheduler.spawn([&body, who] { body(who); });
    }
    scheduler.run();
  }
  static void yield() { coop::await(coop::yield()); }
};

void run(problem& work, region& timed) {
  fibers strands;
  run_on(strands, work, timed);
  work.count_yields();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::sync_costs
