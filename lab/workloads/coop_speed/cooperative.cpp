#include "harness/strand_kinds.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/coop_speed/workload.hpp"

namespace heddle::lab::coop_speed {
namespace {

using namespace coop;

void yields(scheduler& s, problem& work, region& timed) {
  const std::int64_t step = work.strands();
  const std::int64_t end = work.strands() * work.count();
  for (std::int64_t i = 0; i < work.strands(); ++i) {
    s.spawn([&work, &timed, i, step, end]() -> STRAND {
      WAIT(yield());  // until all have started
      if (i == 0) timed.begin();
      for (std::int64_t place = i; place < end; place += step) {
        work.take_turn(place);
        WAIT(yield());
      }
      if (i == 0) timed.end();
    });
  }
  s.run();
}

void spawns(scheduler& s, problem& work) {
  for (std::int64_t batch = 0; batch < work.count(); ++batch) {
    for (std::int64_t i = 0; i < work.strands(); ++i) {
      s.spawn([&work]() -> STRAND {
        work.did_one();
        RETURN;
      });
    }
    s.run();
  }
}

STRAND hand_over(problem& work, std::int64_t first, semaphore& mine, semaphore& others) {
  for (std::int64_t i = first; i < work.count(); i += 2) {
    WAIT(mine.P());
    work.take_turn(i);
    others.V();
  }
}

void hand_overs(scheduler& s, problem& work) {
  semaphore ping(1, "ping");
  semaphore pong(0, "pong");
  s.spawn([&] { return hand_over(work, 0, ping, pong); });
  s.spawn([&] { return hand_over(work, 1, pong, ping); });
  s.run();
}

void channels(scheduler& s, problem& work) {
  channel<std::int64_t> values(1, "values");
  s.spawn([&]() -> STRAND {
    for (std::int64_t i = 0; i < work.count(); ++i) {
      if (!WAIT(values.push(i))) work.went_wrong();
    }
    values.close();
  });
  s.spawn([&]() -> STRAND {
    while (const auto value = WAIT(values.pop())) work.take_turn(*value);
  });
  s.run();
}

void idle(scheduler& s, problem& work) {
  work.measure_empty();
  semaphore gate(0, "gate");
  for (std::int64_t i = 0; i < work.strands(); ++i) {
    s.spawn([&]() -> STRAND {
      WAIT(gate.P());
      work.did_one();
    });
  }
  s.spawn([&]() -> STRAND {  // has its turn when all the others wait
    work.measure_full();
    for (std::int64_t i = 0; i < work.strands(); ++i) gate.V();
    RETURN;
  });
  s.run();
}

void run(problem& work, region& timed) {
  scheduler s({.stack_bytes = coop::stack::safe_bytes});
  if (work.row() == "yield") return yields(s, work, timed);
  if (work.row() == "spawn") return spawns(s, work);
  if (work.row() == "handoff") return hand_overs(s, work);
  if (work.row() == "channel") return channels(s, work);
  return idle(s, work);
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::coop_speed
