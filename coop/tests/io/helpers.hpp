// Helpers of the tests of file I/O.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "heddle/coop/io/service.hpp"

namespace io = heddle::coop::io;

/// Runs `test(options)` over every mechanism that works here; says which one does not, and why.
template <class Test>
void over_every_mechanism(const Test& test) {
  for (const auto only :
       {io::mechanism::io_uring, io::mechanism::linux_aio, io::mechanism::threads}) {
    try {
      heddle::coop::scheduler s;
      const io::service probe(s, {.only = only});
    } catch (const std::system_error& error) {
      REQUIRE(only != io::mechanism::threads);
      static std::set<std::string> said;  // once each
      if (said.insert(error.what()).second) MESSAGE("not tested: " << error.what());
      continue;
    }
    CAPTURE(static_cast<int>(only));
    test(io::service_options{.only = only, .depth = 8, .threads = 2});
  }
}

/// Runs `test(options)` over both ways to wait for sockets, beside files by io_uring and by
/// threads.
template <class Test>
void over_every_socket_mechanism(const Test& test) {
  const auto over = [&](io::mechanism files, io::socket_mechanism sockets) {
    const io::service_options options{.only = files, .depth = 8, .threads = 2, .sockets = sockets};
    try {
      heddle::coop::scheduler s;
      const io::service probe(s, options);
    } catch (const std::system_error& error) {
      REQUIRE(files != io::mechanism::threads);
      static std::set<std::string> said;  // once each
      if (said.insert(error.what()).second) MESSAGE("not tested: " << error.what());
      return;
    }
    CAPTURE(static_cast<int>(files));
    CAPTURE(static_cast<int>(sockets));
    test(options);
  };
  over(io::mechanism::threads, io::socket_mechanism::epoll);
  over(io::mechanism::io_uring, io::socket_mechanism::epoll);
  over(io::mechanism::io_uring, io::socket_mechanism::io_uring);
}

/// A file that is gone with this.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text = {}) {
    const int fd = mkostemp(path_, O_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  ~temporary_file() { ::unlink(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  char path_[64] = "heddle-io-test.XXXXXX";
};

/// Both ends of a pipe; `from` belongs to the file that adopts it.
struct pipe_ends {
  int from;
  int to;
  pipe_ends() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    from = ends[0];
    to = ends[1];
  }
  ~pipe_ends() { close_writer(); }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  void put(const std::string& text) const {
    REQUIRE(::write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void close_writer() {
    if (to >= 0) ::close(to);
    to = -1;
  }
};

/// Number of file descriptors that this process has open.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count - 1;  // without the one that reads the directory
}

inline bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }
