// Kernel threads that look at a word until the other one has written it, each on a processor of its
// own: the least that a hand-over can cost.
#include <atomic>

#include "harness/processors.hpp"
#include "harness/team.hpp"
#include "heddle/coop/ext/spin.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

struct alignas(128) word {
  std::atomic<std::int64_t> turn{-1};
};

void run(problem& work, region& timed) {
  if (work.row() != "handoff" && work.row() != "request")
    throw cannot_run("who only spins is never woken or moved");
  word words[2];
  std::atomic<bool> ready{false};
  run_on_threads(timed, 2, [&](int index) {
    const auto side = static_cast<std::size_t>(index);
    pin_to_processor(index);
    if (side == 1) {
      ready = true;
    } else {
      while (!ready) continue;
      timed.begin();
      words[0].turn.store(0, std::memory_order_release);
    }
    for (std::int64_t i = index; i < work.turns(); i += 2) {
      // With the pause: it is faster here, though it looks less often.
      while (words[side].turn.load(std::memory_order_acquire) != i) {
        coop::parallel::detail::pause();
      }
      work.take_turn(side, i);
      words[1 - side].turn.store(i + 1, std::memory_order_release);
    }
    if (side == 0) timed.end();
  });
}

const model<problem> registered{"thread/spin", &run};

}  // namespace
}  // namespace heddle::lab::group_speed
