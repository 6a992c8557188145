#include <deque>

#include "harness/processes.hpp"
#include "workloads/philosophers/by_semaphores.hpp"
#include "workloads/philosophers/io.hpp"

namespace heddle::lab::philosophers {
namespace {

template <class Slice>
void run_in(Slice slice, problem& work) {
  work.has_checkpoints();
  processes<Slice> all(slice);
  std::deque<typename processes<Slice>::semaphore> forks;
  for (int i = 0; i < work.philosophers(); ++i) forks.emplace_back(1U);
  for (int who = 0; who < work.philosophers(); ++who) {
    all.spawn([&, who] {
      dine(
          work, who, forks, processes<Slice>::checkpoint, [&] { wait_for_io(work); },
          processes<Slice>::give_way);
    });
  }
  all.run();
}

void run_in_time(problem& work, region&) { run_in(coop::duration(work.slice_ns()), work); }
void run_counted(problem& work, region&) {
  run_in(coop::checkpoints{static_cast<std::uint32_t>(work.slice_steps())}, work);
}

const model<problem> concurrent{"concurrent", &run_in_time};
const model<problem> concurrent_counted{"concurrent/counted", &run_counted};

}  // namespace
}  // namespace heddle::lab::philosophers
