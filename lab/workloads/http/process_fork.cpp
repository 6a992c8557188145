// A process a connection, forked when it is accepted: the oldest concurrent server there is. The
// process waits in the kernel for its client and for the back end, over a connection of its own.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <unordered_set>

#include "workloads/http/blocking.hpp"
#include "workloads/http/reception.hpp"
#include "workloads/http/server_process.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {
namespace {

sigset_t both_signals() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGTERM);
  sigaddset(&both, SIGCHLD);
  return both;
}

std::int64_t ns(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

// The client that this process serves, for the signal handler.
const blocking_client* served = nullptr;

void stop_waiting(int) { served->stop_waiting(); }

[[noreturn]] void serve(int fd, problem& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  blocking_client one(fd, work.server(), work.back_end());
  served = &one;
  struct sigaction action = {};
  action.sa_handler = &stop_waiting;  // without SA_RESTART: what it meets is looked at again
  sigaction(SIGTERM, &action, nullptr);
  const sigset_t both = both_signals();
  sigprocmask(SIG_UNBLOCK, &both, nullptr);
  one.serve();
  _exit(0);
}

// Forks, and reaps; in a process of its own, so that all children are clients'.
class server {
 public:
  explicit server(problem& work)
      : work_(work), state_(work.server()), reception_(work.door(), {SIGTERM, SIGCHLD}) {}

  void run() {
    while (!state_.stopping || !serving_.empty()) {
      const bool room = !state_.stopping && serving_.size() < state_.allowed.connections;
      const auto come = reception_.next(room, std::chrono::milliseconds(60'000));
      if (come.client >= 0) begin(come.client);
      if (come.signal == SIGTERM) stop();
      if (come.signal == SIGCHLD) reap();
    }
  }

 private:
  void begin(int fd) {
    const pid_t child = fork();
    if (child == 0) serve(fd, work_);
    close(fd);  // without a process, the client sees its connection end
    if (child < 0) return;
    state_.opened();
    serving_.insert(child);
  }

  void stop() {
    state_.stopping = true;
    for (const pid_t each : serving_) kill(each, SIGTERM);
  }

  // One signal may stand for many that have ended.
  void reap() {
    rusage used;
    int status = 0;
    for (pid_t child; (child = wait4(-1, &status, WNOHANG, &used)) > 0;) {
      serving_.erase(child);
      state_.ended_cpu_ns += ns(used.ru_utime) + ns(used.ru_stime);
      if (status != 0) ++state_.failed;
      --state_.open;
    }
  }

  problem& work_;
  server_state& state_;
  reception reception_;
  std::unordered_set<pid_t> serving_;
};

void run(problem& work, region& timed) {
  timed.begin();
  serve_in_process(work.server(), [&] {
    const sigset_t both = both_signals();
    sigprocmask(SIG_BLOCK, &both, nullptr);
    server(work).run();
  });
  timed.end();
  timed.kernel_threads(static_cast<std::uint64_t>(work.server().most_open) + 1);
}

const model<problem> registered{"process/fork", &run};

}  // namespace
}  // namespace heddle::lab::http
