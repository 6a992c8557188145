#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/throw_errno.hpp"
#include "heddle/coop/io/endpoint.hpp"

namespace heddle::lab::http {

/// A socket that listens at a free port of the loopback interface.
class listening {
 public:
  listening() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto at = coop::io::endpoint::ip("127.0.0.1", 0);
    const int on = 1;
    if (fd_ < 0 || setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        bind(fd_, at.address(), at.length()) != 0 || listen(fd_, 4096) != 0) {
      throw_errno("cannot listen at 127.0.0.1");
    }
  }
  ~listening() { close(fd_); }
  listening(const listening&) = delete;
  listening& operator=(const listening&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] coop::io::endpoint address() const {
    sockaddr_storage at;
    socklen_t length = sizeof at;
    if (getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length) != 0) {
      throw_errno("getsockname(2)");
    }
    return {reinterpret_cast<const sockaddr*>(&at), length};
  }

 private:
  int fd_;
};

}  // namespace heddle::lab::http
