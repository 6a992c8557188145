#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "harness/team.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/preemption/workload.hpp"

namespace heddle::lab::preemption {
namespace {

// How the sleeper's thread stands to those of the hogs.
enum class priority {
  same,
  nice,  // the hogs have the nicest value there is, for which nobody needs a permission
  fifo,  // the sleeper has a real-time policy
};

int set_policy(int policy, int level) {
  sched_param parameters{};
  parameters.sched_priority = level;
  return pthread_setschedparam(pthread_self(), policy, &parameters);
}

void require_fifo() {
  const int error = set_policy(SCHED_FIFO, 1);
  if (error != 0) {
    throw cannot_run(std::string("no thread may have SCHED_FIFO (") + std::strerror(error) +
                     "): it takes root, or `ulimit -r 1`");
  }
  if (set_policy(SCHED_OTHER, 0) != 0) throw_errno("SCHED_OTHER");
}

template <priority Sleeper>
void compute(problem& work, int hog) {
  // A kernel thread has a nice value of its own; a new one has its maker's.
  if (Sleeper == priority::nice && setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19) != 0)
    throw_errno("setpriority");
  work.compute(hog, [](std::int64_t) {});
}

template <priority Sleeper>
void run(problem& work, region& timed) {
  if (Sleeper == priority::fifo) require_fifo();
  run_on_threads(timed, work.hogs() + 1, [&work](int strand) {
    if (strand < work.hogs()) return compute<Sleeper>(work, strand);
    if (Sleeper == priority::fifo) set_policy(SCHED_FIFO, 1);
    do {
      const auto due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(work.sleep_ns());
      std::this_thread::sleep_until(due);
      work.woken((std::chrono::steady_clock::now() - due).count());
    } while (work.computing());
  });
}

const model<problem> models[] = {
    {"thread", &run<priority::same>},
    {"thread/nice", &run<priority::nice>},
    {"thread/fifo", &run<priority::fifo>},
};

}  // namespace
}  // namespace heddle::lab::preemption
