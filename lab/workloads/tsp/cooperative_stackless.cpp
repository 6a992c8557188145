#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/tsp/strand.hpp"

namespace heddle::lab::tsp {
namespace {

using namespace coop;

task<> empty(problem& work, int strand, std::size_t& next, unprotected& shorter) {
  std::uint64_t nodes = 0;
  std::uint64_t tasks = 0;
  while (next < work.tasks().size()) {
    nodes += search(work.cities(), work.tasks()[next++], work.bound(), shorter);
    ++tasks;
    co_await yield();
    ++count().strand_switches;
  }
  work.worked(strand, tasks, nodes);
}

void run(problem& work, region&) {
  scheduler s;
  unprotected shorter(work);
  std::size_t next = 0;
  for (int strand = 0; strand < work.strands(); ++strand) {
    s.spawn(empty(work, strand, next, shorter));
  }
  s.run();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::tsp
