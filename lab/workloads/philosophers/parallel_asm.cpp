#include "heddle/coop/parallel/balance.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/philosophers/region.hpp"

namespace heddle::lab::philosophers {
namespace {

using coop::await;

// A hybrid of Figure 1's two parts. A border fork is taken first: a philosopher who
// holds one then waits only for a neighbour who eats.
void dine(problem& work, int who, region_forks& own, const border_forks& border) {
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
      await(coop::yield());
    }
    if (left_border != nullptr) await(left_border->P());
    if (right_border != nullptr) await(right_border->P());
    const std::uint64_t before = own.done.evaluations;
    await(coop::wait_for(own.done.counting([&] { return left == 1 && right == 1; })));
    if (own.done.evaluations != before) ++own.done.switches;
    left = 0;
    right = 0;
    work.begin_eating(who);
    work.chew(who, no_checkpoint);
    if (work.yields_inside()) {
      ++own.done.switches;
      await(coop::yield());
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
    group.spawn([&work, &border, &own, who] { dine(work, who, own, border); });
  });
}

// Every fork a semaphore, as in Figure 1(a), between the same groups: so a philosopher may be
// moved.
void run_all_semaphores(problem& work, region& timed, bool balance) {
  const border_forks forks(work, [](int) { return true; });
  const auto start = [&](coop::parallel::group& group, int who, region_forks&) {
    group.spawn([&work, &forks, who, balance] {
      coop::parallel::semaphore& first = *forks[work.first(who)];
      coop::parallel::semaphore& second = *forks[work.second(who)];
      coop::parallel::set_movable(balance);
      for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
        work.think(who, no_checkpoint);
        if (work.yields_outside()) await(coop::yield());
        await(first.P());
        await(second.P());
        work.eat(who, no_checkpoint);
        first.V();
        second.V();
      }
      work.leave();
    });
  };
  run_regions(work, timed, start, balance);
}

void run_with_semaphores(problem& work, region& timed) { run_all_semaphores(work, timed, false); }
void run_balanced(problem& work, region& timed) { run_all_semaphores(work, timed, true); }

const model<problem> parallel_asm{"parallel/asm", &run};
const model<problem> parallel_asm_semaphores{"parallel/asm-semaphores", &run_with_semaphores};
const model<problem> parallel_asm_balanced{"parallel/asm-balanced", &run_balanced};

}  // namespace
}  // namespace heddle::lab::philosophers
