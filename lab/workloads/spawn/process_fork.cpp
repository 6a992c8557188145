#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

// Waits for so many children; whether all ended well.
bool reap(std::int64_t children) {
  bool well = true;
  while (children > 0) {
    int status = 0;
    if (wait(&status) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    --children;
  }
  return well;
}

void run(problem& work, region&) {
  work.in_batches([&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        work.ran_somewhere(i);
        _exit(0);
      }
      if (child < 0) {
        const int error = errno;
        reap(i - first);
        throw std::system_error(error, std::generic_category(),
                                "cannot fork (see `ulimit -u`, kernel.pid_max)");
      }
    }
    if (!reap(end - first)) throw std::runtime_error("a process failed");
  });
}

const model<problem> process_fork{"process/fork", &run};

}  // namespace
}  // namespace heddle::lab::spawning
