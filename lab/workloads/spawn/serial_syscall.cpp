#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

// The article: "almost equivalent to the time consumed by a system call". getppid is about the
// shortest there is, and no C library answers it by itself.
void run(problem& work, region&) {
  for (std::int64_t i = 0; i < work.strands(); ++i) {
    work.ran(i);
    syscall(SYS_getppid);
  }
}

const model<problem> serial_syscall{"serial/syscall", &run};

}  // namespace
}  // namespace heddle::lab::spawning
