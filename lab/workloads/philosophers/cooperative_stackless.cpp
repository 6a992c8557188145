#include <vector>

#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {
namespace {

// The same program as cooperative_asm.cpp, in a frame instead of on a stack.
coop::task<> dine(problem& work, int who, int& left, int& right, waits& done) {
  for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
    work.think(who, no_checkpoint);
    if (work.does_io() && work.awaits_io()) {
      co_await coop::sleep_for(coop::duration(work.io_ns()));
    } else if (work.does_io()) {
      work.block_for_io();
    }
    if (work.yields_outside()) {
      ++done.switches;
      co_await coop::yield();
    }
    const std::uint64_t before = done.evaluations;
    co_await coop::wait_for(done.counting([&] { return left == 1 && right == 1; }));
    if (done.evaluations != before) ++done.switches;
    left = 0;
    right = 0;
    work.begin_eating(who);
    work.chew(who, no_checkpoint);
    for (int i = 0; i < work.cooperative_yields_inside(); ++i) {
      ++done.switches;
      co_await coop::yield();
    }
    work.end_eating(who);
    left = 1;
    right = 1;
  }
  work.leave();
}

void run(problem& work, region&) {
  coop::scheduler s;
  waits done;
  std::vector<int> fork(static_cast<std::size_t>(work.philosophers()), 1);
  for (int who = 0; who < work.philosophers(); ++who) {
    s.spawn(dine(work, who, fork[static_cast<std::size_t>(work.left(who))],
                 fork[static_cast<std::size_t>(work.right(who))], done));
  }
  s.run();
  work.waited(done);
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::philosophers
