#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/processors.hpp"

namespace heddle::lab::group_speed {

/// Another process, and a stream socket to it; it is on processor 1, and we are on 0.
class child {
 public:
  /// It calls `serve(socket)`, and ends when that returns; well, if nothing was thrown. Throws
  /// std::system_error.
  template <class Serve>
  explicit child(const Serve& serve) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("no socketpair");
    process_ = fork();
    if (process_ < 0) {
      close(ends[0]);
      close(ends[1]);
      fail("cannot fork");
    }
    if (process_ == 0) {
      close(ends[0]);
      be(serve, ends[1]);
    }
    close(ends[1]);
    socket_ = ends[0];
    pin_to_processor(0);
  }
  ~child() {
    if (socket_ >= 0) close(socket_);
    if (process_ > 0) kill(process_, SIGKILL);
    static_cast<void>(ended_well());
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  /// Our end of the socket, which stays ours.
  [[nodiscard]] int socket() const { return socket_; }
  /// Hands our end of the socket over to the caller, who closes it.
  [[nodiscard]] int take_socket() { return std::exchange(socket_, -1); }
  /// Waits for its end, which the end of the socket is to it; from then on we may use both
  /// processors again. Throws std::runtime_error if it did not end well.
  void wait() {
    if (socket_ >= 0) close(take_socket());
    pin_to_processors(2);
    if (!ended_well()) throw std::runtime_error("the other process failed");
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  // Never returns: what the parent would do next is not the child's.
  template <class Serve>
  [[noreturn]] static void be(const Serve& serve, int socket) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      pin_to_processor(1);
      serve(socket);
    } catch (const std::exception& failed) {
      dprintf(STDERR_FILENO, "the other process: %s\n", failed.what());
      _exit(1);
    }
    _exit(0);
  }
  bool ended_well() {
    if (process_ <= 0) return true;
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  pid_t process_ = 0;
  int socket_ = -1;
};

}  // namespace heddle::lab::group_speed
