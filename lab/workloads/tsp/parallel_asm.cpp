#include "heddle/coop/yield.hpp"
#include "workloads/tsp/groups.hpp"

namespace heddle::lab::tsp {
namespace {

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  group_bags all(work);
  for (int strand = 0; strand < work.strands(); ++strand) {
    const auto group = static_cast<std::size_t>(strand % work.groups());
    groups[group].spawn([&work, &all, &bag = all.bags[group], strand] {
      std::uint64_t nodes = 0;
      std::uint64_t tasks = 0;
      while (!bag.empty()) {
        nodes += bag.search_one();
        ++tasks;
        coop::await(all.exchange.P());
        bag.exchange();
        all.exchange.V();
        coop::await(coop::yield());
        ++count().strand_switches;
      }
      work.worked(strand, tasks, nodes);
    });
  }
  groups.run();
  all.count_operations();
}

const model<problem> parallel_asm{"parallel/asm", &run};

}  // namespace
}  // namespace heddle::lab::tsp
