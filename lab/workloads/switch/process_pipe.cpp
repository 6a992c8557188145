#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {
namespace {

// A ring of processes, each blocked reading a pipe of its own; a byte is the right to run. We are
// strand 0.
class ring {
 public:
  explicit ring(int processes) : pipes_(static_cast<std::size_t>(processes), {-1, -1}) {
    for (auto& each : pipes_) {
      if (pipe2(each.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close_except(-1, -1);
        throw std::system_error(
            error, std::generic_category(),
            "no pipe for each process (see `ulimit -n`, or use fewer contexts)");
      }
    }
  }
  ~ring() { close_except(-1, -1); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  /// Keeps strand `self`'s two ends only, so that the death of a neighbour is an end of file.
  void become(std::size_t self) {
    in_ = pipes_[self][0];
    out_ = pipes_[(self + 1) % pipes_.size()][1];
    close_except(in_, out_);
  }

  bool wait() const {
    char byte = 0;
    return read(in_, &byte, 1) == 1;
  }
  bool hand_over() const { return write(out_, "", 1) == 1; }

 private:
  void close_except(int in, int out) {
    for (auto& ends : pipes_) {
      for (int& end : ends) {
        if (end < 0 || end == in || end == out) continue;
        close(end);
        end = -1;
      }
    }
  }

  std::vector<std::array<int, 2>> pipes_;
  int in_ = -1;
  int out_ = -1;
};

// Children that are waited for, whatever happens.
class family {
 public:
  family() = default;
  family(const family&) = delete;
  family& operator=(const family&) = delete;
  ~family() {
    for (const pid_t each : children_) kill(each, SIGKILL);
    (void)wait_for_all();
  }
  void add(pid_t child) { children_.push_back(child); }
  /// Whether all ended well.
  bool wait_for_all() {
    bool well = true;
    for (const pid_t each : children_) {
      int status = 0;
      while (waitpid(each, &status, 0) < 0 && errno == EINTR) {
      }
      well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    children_.clear();
    return well;
  }

 private:
  std::vector<pid_t> children_;
};

// Never returns: what the parent would do next is not the child's.
[[noreturn]] void child(problem& work, ring& pipes, int self) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pipes.become(static_cast<std::size_t>(self));
  turns mine = work.turns_of(self);
  bool well = pipes.wait() && pipes.hand_over();  // the round that starts everybody
  for (std::int64_t i = 0; well && i < work.counter(); ++i) {
    well = pipes.wait();
    mine.take();
    well = well && pipes.hand_over();
  }
  work.finish(mine);
  _exit(well ? 0 : 1);
}

void run(problem& work, region& timed) {
  signal(SIGPIPE, SIG_IGN);  // a dead neighbour is an error of write
  ring pipes(work.contexts());
  family children;
  for (int i = 1; i < work.contexts(); ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
    if (pid == 0) child(work, pipes, i);
    children.add(pid);
  }
  pipes.become(0);
  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()));
  turns mine = work.turns_of(0);
  bool well = pipes.hand_over() && pipes.wait();
  timed.begin();
  for (std::int64_t i = 0; well && i < work.counter(); ++i) {
    mine.take();
    well = pipes.hand_over() && pipes.wait();
  }
  timed.end();
  work.finish(mine);
  if (!well) throw std::runtime_error("a process of the ring died");
  if (!children.wait_for_all()) throw std::runtime_error("a process of the ring failed");
  count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
}

const model<problem> process_pipe{"process/pipe", &run};

}  // namespace
}  // namespace heddle::lab::switching
