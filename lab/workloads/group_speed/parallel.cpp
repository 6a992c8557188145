// Groups of fibers, or of tasks.
#include "harness/strand_kinds.hpp"
#include "heddle/coop/parallel/barrier.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

using namespace coop;

STRAND take_turns(problem& work, std::size_t side, parallel::semaphore& mine,
                  parallel::semaphore& others) {
  for (std::int64_t i = static_cast<std::int64_t>(side); i < work.turns(); i += 2) {
    WAIT(mine.P());
    work.take_turn(side, i);
    others.V();
  }
}

void hand_overs(parallel::groups& g, problem& work, region& timed) {
  parallel::semaphore ping(0);
  parallel::semaphore pong(0);
  parallel::barrier begun(g, 1);
  g[1].spawn([&]() -> STRAND {
    WAIT(begun.arrive_and_wait());
    CALL(take_turns(work, 1, pong, ping));
  });
  g[0].spawn([&]() -> STRAND {
    WAIT(begun.arrive_and_wait());
    timed.begin();
    ping.V();
    CALL(take_turns(work, 0, ping, pong));
    timed.end();
  });
  g.run();
}

void wake_ups(parallel::groups& g, problem& work) {
  parallel::semaphore called(0);
  parallel::semaphore answered(0);
  g[1].spawn([&]() -> STRAND {
    for (std::int64_t i = 0; i < work.count(); ++i) {
      WAIT(called.P());
      work.woke();
      answered.V();
    }
  });
  g[0].spawn([&]() -> STRAND {
    for (std::int64_t i = 0; i < work.count(); ++i) {
      WAIT(sleep_for(std::chrono::nanoseconds(problem::pause_ns)));
      work.about_to_wake();
      called.V();
      WAIT(answered.P());
    }
  });
  g.run();
}

void moves(parallel::groups& g, problem& work, region& timed) {
  parallel::barrier begun(g, 1);
  g[0].spawn([&]() -> STRAND { WAIT(begun.arrive_and_wait()); });
  g[1].spawn([&]() -> STRAND {
    WAIT(begun.arrive_and_wait());
    timed.begin();
    for (std::int64_t i = 0; i < work.count(); ++i) {
      const auto side = static_cast<std::size_t>(i % 2);
      WAIT(parallel::move_to(g[side]));
      work.take_turn(side, i);
    }
    timed.end();
  });
  g.run();
}

void run(problem& work, region& timed) {
  timed.kernel_threads(3);
  parallel::groups g({.count = 2, .each = {.stack_bytes = coop::stack::safe_bytes}});
  if (work.row() == "wake") return wake_ups(g, work);
  if (work.row() == "move") return moves(g, work, timed);
  hand_overs(g, work, timed);
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::group_speed
