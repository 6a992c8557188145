#include "harness/processes.hpp"
#include "workloads/buffer/by_semaphores.hpp"

namespace heddle::lab::buffer {
namespace {

template <class Slice>
void run_in(Slice slice, problem& work) {
  work.has_checkpoints();
  processes<Slice> all(slice);
  by_semaphores<typename processes<Slice>::semaphore> buffer(work);
  for (int who = 0; who < work.producers(); ++who) {
    all.spawn([&, who] { buffer.produce(who, processes<Slice>::checkpoint); });
  }
  for (int who = 0; who < work.consumers(); ++who) {
    all.spawn([&, who] { buffer.consume(who, processes<Slice>::checkpoint); });
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
}  // namespace heddle::lab::buffer
