// Kernel threads that wake each other by POSIX semaphores, each on a processor of its own; a thread
// that has the kernel move it.
#include <semaphore.h>
#include <time.h>

#include "harness/processors.hpp"
#include "harness/team.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

class semaphore {
 public:
  semaphore() { sem_init(&semaphore_, 0, 0); }
  ~semaphore() { sem_destroy(&semaphore_); }
  void P() {
    while (sem_wait(&semaphore_) != 0) continue;  // a signal came
  }
  void V() { sem_post(&semaphore_); }

 private:
  alignas(128) sem_t semaphore_;
};

void hand_overs(problem& work, region& timed) {
  semaphore turn[2];
  semaphore ready;
  run_on_threads(timed, 2, [&](int index) {
    const auto side = static_cast<std::size_t>(index);
    pin_to_processor(index);
    if (side == 1) {
      ready.V();
    } else {
      ready.P();
      timed.begin();
      turn[0].V();
    }
    for (std::int64_t i = index; i < work.turns(); i += 2) {
      turn[side].P();
      work.take_turn(side, i);
      turn[1 - side].V();
    }
    if (side == 0) timed.end();
  });
}

void wake_ups(problem& work, region& timed) {
  semaphore called;
  semaphore answered;
  run_on_threads(timed, 2, [&](int side) {
    pin_to_processor(side);
    for (std::int64_t i = 0; i < work.count(); ++i) {
      if (side == 1) {
        called.P();
        work.woke();
        answered.V();
      } else {
        const timespec pause = {.tv_sec = 0, .tv_nsec = problem::pause_ns};
        nanosleep(&pause, nullptr);
        work.about_to_wake();
        called.V();
        answered.P();
      }
    }
  });
}

void moves(problem& work, region& timed) {
  run_on_threads(timed, 1, [&](int) {
    pin_to_processor(1);
    timed.begin();
    for (std::int64_t i = 0; i < work.count(); ++i) {
      const auto side = static_cast<int>(i % 2);
      pin_to_processor(side);
      work.take_turn(static_cast<std::size_t>(side), i);
    }
    timed.end();
  });
}

void run(problem& work, region& timed) {
  if (work.row() == "wake") return wake_ups(work, timed);
  if (work.row() == "move") return moves(work, timed);
  hand_overs(work, timed);
}

const model<problem> registered{"thread", &run};

}  // namespace
}  // namespace heddle::lab::group_speed
