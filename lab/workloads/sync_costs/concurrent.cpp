#include "harness/processes.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/sync_costs/stackful.hpp"

namespace heddle::lab::sync_costs {
namespace {

struct sliced {
  using semaphore = process_semaphore;
  processes<coop::duration> all{coop::duration(1'000'000)};

  template <class Body>
  void run(int count, const Body& body) {
    for (int who = 0; who < count; ++who) {
      all.spawn([&body, who] { body(who); });
    }
    all.run();
  }
  static void yield() { coop::await(coop::yield()); }
};

void run(problem& work, region& timed) {
  sliced strands;
  run_on(strands, work, timed);
  work.count_yields();
}

const model<problem> concurrent{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::sync_costs
