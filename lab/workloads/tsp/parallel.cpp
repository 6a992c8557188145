#include "harness/strand_kinds.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/tsp/groups.hpp"

namespace heddle::lab::tsp {
namespace {

STRAND empty(problem& work, int strand, group_bags& all, std::size_t group) {
  std::uint64_t nodes = 0;
  std::uint64_t tasks = 0;
  for (;; ++tasks) {
    WAIT(all.exchange.P());
    const tour* const next = all.take(group);
    all.exchange.V();
    if (next == nullptr) break;
    nodes += all.record_of(group).search_from(*next);
    WAIT(coop::yield());
    ++count().strand_switches;
  }
  work.worked(strand, tasks, nodes);
}

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  group_bags all(work);
  for (int strand = 0; strand < work.strands(); ++strand) {
    const auto group = static_cast<std::size_t>(work.group_of(strand));
    groups[group].spawn([&work, &all, group, strand] { return empty(work, strand, all, group); });
  }
  groups.run();
  all.count_operations();
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::tsp
