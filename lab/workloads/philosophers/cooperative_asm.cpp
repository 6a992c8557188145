#include <vector>

#include "harness/waiting.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/philosophers/io.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {
namespace {

// The philosophers of Figure 1(b) as fibers. A fork is an integer: 1 while it lies there.
// `Waiting` is how they wait for both.
template <class Waiting>
void run(problem& work, region&) {
  coop::scheduler s;
  Waiting waiting;
  std::vector<typename Waiting::template variable<int>> fork(
      static_cast<std::size_t>(work.philosophers()));
  for (auto& each : fork) each = 1;
  for (int who = 0; who < work.philosophers(); ++who) {
    s.spawn([&, who] {
      auto& left = fork[static_cast<std::size_t>(work.left(who))];
      auto& right = fork[static_cast<std::size_t>(work.right(who))];
      for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
        work.think(who, no_checkpoint);
        if (work.does_io()) wait_for_io(work);
        if (work.yields_outside()) waiting.yield();
        waiting.until([&] { return left == 1 && right == 1; }, nullptr, left, right);
        left = 0;
        right = 0;
        work.begin_eating(who);
        work.chew(who, no_checkpoint);
        for (int i = 0; i < work.cooperative_yields_inside(); ++i) waiting.yield();
        work.end_eating(who);
        left = 1;
        right = 1;
      }
      work.leave();
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
}  // namespace heddle::lab::philosophers
