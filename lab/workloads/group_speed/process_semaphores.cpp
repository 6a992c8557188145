// Two processes that share memory: a request and its answer lie there, and two semaphores say which
// of them is there.
#include <semaphore.h>

#include "harness/shared.hpp"
#include "workloads/group_speed/child.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

class semaphore {
 public:
  semaphore() {
    if (sem_init(&semaphore_, 1, 0) != 0) throw_errno("sem_init");
  }
  void P() {
    while (sem_wait(&semaphore_) != 0) continue;  // a signal came
  }
  void V() { sem_post(&semaphore_); }

 private:
  alignas(128) sem_t semaphore_;
};

// What both processes see. The semaphores order the accesses to `place`.
struct desk {
  semaphore asked;
  semaphore answered;
  alignas(128) std::int64_t place = 0;
};

constexpr std::int64_t no_more = -1;

void run(problem& work, region& timed) {
  if (work.row() != "request") throw cannot_run("processes only ask here");
  timed.kernel_threads(2);
  shared<desk> both;
  desk& seen = *both;
  child other([&seen](int) {
    for (;;) {
      seen.asked.P();
      if (seen.place == no_more) return;
      ++seen.place;
      seen.answered.V();
    }
  });
  timed.begin();
  for (std::int64_t i = 0; i < work.turns(); i += 2) {
    seen.place = i;
    seen.asked.V();
    seen.answered.P();
    work.take_turn(0, seen.place - 1);
    work.take_turn(1, seen.place);
  }
  timed.end();
  seen.place = no_more;
  seen.asked.V();
  other.wait();
}

const model<problem> registered{"process/semaphores", &run};

}  // namespace
}  // namespace heddle::lab::group_speed
