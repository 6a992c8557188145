#include "heddle/coop/yield.hpp"
#include "workloads/tsp/groups.hpp"

namespace heddle::lab::tsp {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  group_bags all(work);
  for (int strand = 0; strand < work.strands(); ++strand) {
    const auto group = static_cast<std::size_t>(work.group_of(strand));
    groups[group].spawn([&work, &all, group, strand] {
      std::uint64_t nodes = 0;
      for (std::uint64_t tasks = 0;; ++tasks) {
        coop::await(all.exchange.P());
        const tour* const task = all.take(group);
        all.exchange.V();
        if (task == nullptr) return work.worked(strand, tasks, nodes);
        nodes += all.of(group).search_from(*task);
        coop::await(coop::yield());
        ++count().strand_switches;
      }
    });
  }
  groups.run();
  all.count_operations();
}

const model<problem> parallel_asm{"parallel/asm", &run};

}  // namespace
}  // namespace heddle::lab::tsp
