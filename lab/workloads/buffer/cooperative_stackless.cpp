#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {
namespace {

// The same program as cooperative_asm.cpp, in frames instead of on stacks.
coop::task<> produce(problem& work, int who, int& items, waits& done) {
  for (std::int64_t item = 0; item < work.items(); ++item) {
    work.produce(who, no_checkpoint);
    const std::uint64_t before = done.evaluations;
    co_await coop::wait_for(done.counting([&] { return items < work.slots(); }));
    if (done.evaluations != before) ++done.switches;
    work.deposit(who, no_checkpoint);
    ++items;
  }
}

coop::task<> consume(problem& work, int who, int& items, waits& done) {
  for (std::int64_t left = work.share_of(who); left > 0; --left) {
    const std::uint64_t before = done.evaluations;
    co_await coop::wait_for(done.counting([&] { return items > 0; }));
    if (done.evaluations != before) ++done.switches;
    work.fetch(who, no_checkpoint);
    --items;
    work.consume(who, no_checkpoint);
  }
}

void run(problem& work, region&) {
  coop::scheduler s;
  waits done;
  int items = 0;
  for (int who = 0; who < work.producers(); ++who) s.spawn(produce(work, who, items, done));
  for (int who = 0; who < work.consumers(); ++who) s.spawn(consume(work, who, items, done));
  s.run();
  work.waited(done);
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::buffer
