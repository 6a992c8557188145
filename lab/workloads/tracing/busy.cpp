#include "workloads/tracing/busy.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "harness/throw_errno.hpp"

namespace heddle::lab::tracing {

busy_processors::busy_processors(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t process = fork();
    if (process < 0) throw_errno("cannot fork");
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile unsigned turns = 0;;) {
        const unsigned taken = turns;
        turns = taken + 1;
      }
    }
    processes_.push_back(process);
  }
}

busy_processors::~busy_processors() {
  for (const pid_t process : processes_) kill(process, SIGKILL);
  for (const pid_t process : processes_) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace heddle::lab::tracing
