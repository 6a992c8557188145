#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/balance.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/philosophers/region.hpp"

namespace heddle::lab::philosophers {
namespace {

using coop::await;

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
        work.eat(who, no_checkpoint, [] {
          ++count().strand_switches;
          await(coop::yield());
        });
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

const model<problem> models[] = {
    {"parallel/asm-semaphores", &run_with_semaphores},
    {"parallel/asm-balanced", &run_balanced},
};

}  // namespace
}  // namespace heddle::lab::philosophers
