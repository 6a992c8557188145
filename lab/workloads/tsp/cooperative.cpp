#include "harness/strand_kinds.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

// No other strand runs between the look into the bag and the yield, so neither the bag nor the tour
// needs protection.
STRAND empty(problem& work, int strand, std::size_t& next, unprotected& shorter) {
  std::uint64_t nodes = 0;
  std::uint64_t tasks = 0;
  while (next < work.tasks().size()) {
    nodes += search(work.cities(), work.tasks()[next++], work.bound(), shorter);
    ++tasks;
    WAIT(coop::yield());
    ++count().strand_switches;
  }
  work.worked(strand, tasks, nodes);
}

void run(problem& work, region&) {
  coop::scheduler s;
  unprotected shorter(work);
  std::size_t next = 0;
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn([&, strand] { return empty(work, strand, next, shorter); });
  }
  s.run();
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::tsp
