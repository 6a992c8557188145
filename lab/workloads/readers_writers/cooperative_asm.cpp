#include "harness/waiting.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers {
namespace {

// Readers and writers as fibers that share two numbers. `Waiting` is how they wait for them.
template <class Waiting>
void run(problem& work, region&) {
  coop::scheduler s;
  Waiting waiting;
  typename Waiting::template variable<int> readers{0};
  typename Waiting::template variable<int> writers{0};
  const auto pause = [&] {
    for (int i = 0; i < work.cooperative_yields_inside(); ++i) waiting.yield();
  };
  for (int who = 0; who < work.strands(); ++who) {
    s.spawn([&, who] {
      for (std::int64_t visit = 0; visit < work.visits(); ++visit) {
        work.work_outside(who, no_checkpoint);
        if (work.yields_outside()) waiting.yield();
        if (work.is_reader(who)) {
          waiting.until([&] { return writers == 0; }, nullptr, writers);
          ++readers;
          work.visit(who, no_checkpoint, pause);
          --readers;
        } else {
          waiting.until([&] { return readers == 0 && writers == 0; }, nullptr, readers, writers);
          ++writers;
          work.visit(who, no_checkpoint, pause);
          --writers;
        }
      }
    });
  }
  s.run();
  work.waited(waiting.done());
}

const model<problem> models[] = {
    {"cooperative/asm", &run<by_wait_for>},
    {"cooperative/asm-loop", &run<by_yield_loop>},
    {"cooperative/asm-watched", &run<by_wait_until>},
};

}  // namespace
}  // namespace heddle::lab::readers_writers
