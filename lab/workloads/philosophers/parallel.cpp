#include "harness/strand_kinds.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/philosophers/region.hpp"

namespace heddle::lab::philosophers {
namespace {

// A hybrid of Figure 1's two parts. A border fork is taken first: a philosopher who
// holds one then waits only for a neighbour who eats.
STRAND dine(problem& work, int who, region_forks& own, const border_forks& border) {
  coop::parallel::semaphore* const left_border = border[work.left(who)];
  coop::parallel::semaphore* const right_border = border[work.right(who)];
  int elsewhere = 1;  // in place of a fork that is a semaphore
  int& left =
      left_border != nullptr ? elsewhere : own.fork[static_cast<std::size_t>(work.left(who))];
  int& right =
      right_border != nullptr ? elsewhere : own.fork[static_cast<std::size_t>(work.right(who))];
  for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
    work.think(who, no_checkpoint);
    if (work.yields_outside()) {
      ++own.done.switches;
      WAIT(coop::yield());
    }
    if (left_border != nullptr) WAIT(left_border->P());
    if (right_border != nullptr) WAIT(right_border->P());
    const std::uint64_t before = own.done.evaluations;
    WAIT(coop::wait_for(own.done.counting([&] { return left == 1 && right == 1; })));
    if (own.done.evaluations != before) ++own.done.switches;
    left = 0;
    right = 0;
    work.begin_eating(who);
    work.chew(who, no_checkpoint);
    for (int i = 0; i < work.cooperative_yields_inside(); ++i) {
      ++own.done.switches;
      WAIT(coop::yield());
    }
    work.end_eating(who);
    left = 1;
    right = 1;
    if (left_border != nullptr) left_border->V();
    if (right_border != nullptr) right_border->V();
  }
  work.leave();
}

void run(problem& work, region& timed) {
  const border_forks border(work, [&](int which) { return work.is_border(which); });
  run_regions(work, timed, [&](coop::parallel::group& group, int who, region_forks& own) {
    group.spawn([&work, &border, &own, who] { return dine(work, who, own, border); });
  });
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::philosophers
