#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

#include "harness/throw_errno.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {

/// Children that are waited for, whatever happens.
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

/// A ring of processes, of which we are strand 0. `Ring` is how the right to run is passed on:
///
/// - `Ring(processes)` before they are made;
/// - `become(strand)` in each, once;
/// - `bool wait()` until it is ours, and `bool hand_over()` to the next; false if that failed.
template <class Ring>
class processes {
 public:
  static void run(problem& work, region& timed) {
    Ring ring(work.contexts());
    family children;
    for (int i = 1; i < work.contexts(); ++i) {
      const pid_t pid = fork();
      if (pid < 0) throw_errno("cannot fork");
      if (pid == 0) child(work, ring, i);
      children.add(pid);
    }
    ring.become(0);
    timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()));
    turns mine = work.turns_of(0);
    bool well = ring.hand_over() && ring.wait();  // the round that starts everybody
    timed.begin();
    for (std::int64_t i = 0; well && i < work.counter(); ++i) {
      mine.take();
      well = ring.hand_over() && ring.wait();
    }
    timed.end();
    work.finish(mine);
    if (!well) throw std::runtime_error("a process of the ring died");
    if (!children.wait_for_all()) throw std::runtime_error("a process of the ring failed");
    count().strand_switches += static_cast<std::uint64_t>(work.contexts() * work.counter());
  }

 private:
  // Never returns: what the parent would do next is not the child's.
  [[noreturn]] static void child(problem& work, Ring& ring, int self) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring.become(static_cast<std::size_t>(self));
    turns mine = work.turns_of(self);
    bool well = ring.wait() && ring.hand_over();
    for (std::int64_t i = 0; well && i < work.counter(); ++i) {
      well = ring.wait();
      mine.take();
      well = well && ring.hand_over();
    }
    work.finish(mine);
    _exit(well ? 0 : 1);
  }
};

}  // namespace heddle::lab::switching
