// CP over as many groups as PCM has: the same program as concurrent, processes dealt out in turn.
#include <cstddef>
#include <vector>

#include "harness/group_processes.hpp"
#include "harness/processes.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "workloads/http/by_semaphores.hpp"

namespace heddle::lab::http {
namespace {

using coop::parallel::group;
using coop::parallel::groups;

std::vector<group*> all_of(groups& places) {
  std::vector<group*> all;
  for (std::size_t i = 0; i < places.size(); ++i) all.push_back(&places[i]);
  return all;
}

void run(problem& work, region& timed) {
  groups places({.count = static_cast<std::size_t>(work.loops()),
                 .each = {.stack_bytes = client_stack_bytes}});
  by_semaphores<group_processes::semaphore, group> all(work, all_of(places));
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].spawn([&work, &all, &mine = places[i], i] {
      const timed_slices slices(mine.scheduler(), work.slice());
      all.keep(i);
      count().strand_switches += slices.switches();
    });
  }
  timed.begin();
  places.run();
  timed.end();
  timed.kernel_threads(1 + 2 * places.size());  // each group's, and one that tells its time
}

const model<problem> registered{"concurrent/groups", &run};

}  // namespace
}  // namespace heddle::lab::http
