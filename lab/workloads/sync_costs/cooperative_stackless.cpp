#include "harness/processes.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/sync_costs/workload.hpp"

namespace heddle::lab::sync_costs {
namespace {

coop::task<> take(problem& work, region& timed, coop::semaphore& permits) {
  timed.begin();
  for (std::int64_t i = 0; i < work.count(); ++i) {
    co_await permits.P();
    one_by_one();
  }
  timed.end();
}

coop::task<> give(problem& work, region& timed, coop::semaphore& permits) {
  timed.begin();
  for (std::int64_t i = 0; i < work.count(); ++i) {
    permits.V();
    one_by_one();
  }
  timed.end();
  co_return;
}

coop::task<> give_way(problem& work, std::int64_t first) {
  std::int64_t done = 0;
  for (std::int64_t i = first; i < work.count(); i += 2) {
    co_await coop::yield();
    ++done;
  }
  work.did(done);
}

coop::task<> hand_over(problem& work, std::int64_t first, coop::semaphore& mine,
                       coop::semaphore& others) {
  for (std::int64_t i = first; i < work.count(); i += 2) {
    co_await mine.P();
    work.take_turn(i);
    others.V();
  }
}

void run(problem& work, region& timed) {
  coop::scheduler s;
  if (work.operation() == "yield") {
    for (const std::int64_t first : {0, 1}) s.spawn(give_way(work, first));
    s.run();
    return work.count_yields();
  }
  if (work.operation() == "handoff") {
    counted_semaphore ping(1);
    counted_semaphore pong(0);
    s.spawn(hand_over(work, 0, ping, pong));
    s.spawn(hand_over(work, 1, pong, ping));
    s.run();
    // No strand waits for the last V any more.
    return work.permits(ping.permits() + pong.permits() - 1);
  }
  const bool takes = work.operation() == "p";
  counted_semaphore permits(takes ? static_cast<std::uint64_t>(work.count()) : 0);
  s.spawn(takes ? take(work, timed, permits) : give(work, timed, permits));
  s.run();
  work.did(work.count());
  work.permits(permits.permits());
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::sync_costs
