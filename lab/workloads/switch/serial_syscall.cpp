#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// The goroutine article sets a switch beside "the overhead caused by system calls". getppid is
// about the shortest there is, and no C library answers it by itself.
void run(problem& work, region& timed) {
  std::vector<turns> strands;
  for (int i = 0; i < work.contexts(); ++i) strands.push_back(work.turns_of(i));
  timed.begin();
  for (std::int64_t round = 0; round < work.counter(); ++round) {
    for (turns& each : strands) {
      each.take();
      syscall(SYS_getppid);
    }
  }
  timed.end();
  for (const turns& each : strands) work.finish(each);
}

const model<problem> serial_syscall{"serial/syscall", &run};

}  // namespace
}  // namespace heddle::lab::switching
