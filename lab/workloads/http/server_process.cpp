#include "workloads/http/server_process.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "harness/throw_errno.hpp"

namespace heddle::lab::http {

void serve_in_process(server_state& state, const std::function<void()>& body) {
  const pid_t before = state.process;
  const pid_t child = fork();
  if (child < 0) throw_errno("fork(2)");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Before it serves anybody, so that the clients, who look here at their end, find it.
    state.process = getpid();
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  state.process = before;
  if (status != 0) {
    throw std::runtime_error("the server's process died; waitpid's status is " +
                             std::to_string(status));
  }
}

}  // namespace heddle::lab::http
