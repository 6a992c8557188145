#include "harness/processes.hpp"
#include "workloads/readers_writers/by_semaphores.hpp"

namespace heddle::lab::readers_writers {
namespace {

template <class Slice>
void run_in(Slice slice, problem& work) {
  work.has_checkpoints();
  processes<Slice> all(slice);
  by_semaphores<typename processes<Slice>::semaphore> record(work);
  for (int who = 0; who < work.strands(); ++who) {
    all.spawn(
        [&, who] { record.run(who, processes<Slice>::checkpoint, processes<Slice>::give_way); });
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
}  // namespace heddle::lab::readers_writers
