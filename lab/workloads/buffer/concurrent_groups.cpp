#include "harness/group_processes.hpp"
#include "workloads/buffer/by_semaphores.hpp"

namespace heddle::lab::buffer {
namespace {

// CP on as many processors as PCM has: the same program as concurrent. `placed`: as PCM's strands
// are, all producers on one processor and all consumers on the other.
void run_on_two(problem& work, region& timed, bool placed) {
  work.has_checkpoints();
  group_processes all(2, coop::duration(work.slice_ns()));
  timed.kernel_threads(all.kernel_threads());
  by_semaphores<group_processes::semaphore> buffer(work);
  const auto spawn = [&](std::size_t side, int who, auto body) {
    all.spawn_at(placed ? side : static_cast<std::size_t>(who) % 2, std::move(body));
  };
  for (int who = 0; who < work.producers(); ++who) {
    spawn(0, who, [&, who] { buffer.produce(who, group_processes::checkpoint); });
  }
  for (int who = 0; who < work.consumers(); ++who) {
    spawn(1, work.producers() + who,
          [&, who] { buffer.consume(who, group_processes::checkpoint); });
  }
  all.run();
}

void run(problem& work, region& timed) { run_on_two(work, timed, false); }
void run_placed(problem& work, region& timed) { run_on_two(work, timed, true); }

const model<problem> models[] = {
    {"concurrent/groups", &run},
    {"concurrent/groups-placed", &run_placed},
};

}  // namespace
}  // namespace heddle::lab::buffer
