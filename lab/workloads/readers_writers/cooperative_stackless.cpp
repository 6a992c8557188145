#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers {
namespace {

struct record {
  int readers = 0;
  int writers = 0;
};

// The same program as cooperative_asm.cpp, in a frame instead of on a stack.
coop::task<> visit_all(problem& work, int who, record& at, waits& done) {
  const bool reads = work.is_reader(who);
  int& own_kind = reads ? at.readers : at.writers;
  for (std::int64_t visit = 0; visit < work.visits(); ++visit) {
    work.work_outside(who, no_checkpoint);
    if (work.yields_outside()) {
      ++done.switches;
      co_await coop::yield();
    }
    const std::uint64_t before = done.evaluations;
    if (reads) {
      co_await coop::wait_for(done.counting([&] { return at.writers == 0; }));
    } else {
      co_await coop::wait_for(done.counting([&] { return at.readers == 0 && at.writers == 0; }));
    }
    if (done.evaluations != before) ++done.switches;
    ++own_kind;
    work.begin(who);
    work.work_inside(who, no_checkpoint);
    for (int i = 0; i < work.cooperative_yields_inside(); ++i) {
      ++done.switches;
      co_await coop::yield();
    }
    work.end(who);
    --own_kind;
  }
}

void run(problem& work, region&) {
  coop::scheduler s;
  waits done;
  record at;
  for (int who = 0; who < work.strands(); ++who) s.spawn(visit_all(work, who, at, done));
  s.run();
  work.waited(done);
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers
