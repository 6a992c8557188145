// Helpers of the tests of sockets.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/io/service.hpp"

namespace io = heddle::coop::io;

inline io::endpoint any_port() { return io::endpoint::ip("127.0.0.1", 0); }

/// A name of a Unix socket that nothing else has.
inline io::endpoint unix_name() {
  static int count = 0;
  return io::endpoint::local("@heddle-test-" + std::to_string(getpid()) + '-' +
                             std::to_string(++count));
}

/// Both ends of a connection that belong to no service: made by plain blocking calls.
struct raw_pair {
  int accepted = -1;
  int connected = -1;

  explicit raw_pair(bool tcp) {
    const io::endpoint at = tcp ? any_port() : unix_name();
    const int door = ::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(door, at.address(), at.length()) == 0);
    REQUIRE(listen(door, 1) == 0);
    sockaddr_storage there;
    socklen_t length = sizeof there;
    auto* const address = reinterpret_cast<sockaddr*>(&there);
    REQUIRE(getsockname(door, address, &length) == 0);
    connected = ::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(connected, address, length) == 0);
    accepted = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    ::close(door);
  }
};

/// The same, adopted.
inline std::pair<io::socket, io::socket> connected_pair(const io::service& net, bool tcp) {
  const raw_pair raw(tcp);
  return {net.adopt_socket(raw.accepted, "left"), net.adopt_socket(raw.connected, "right")};
}

/// `bytes` characters of which no long piece is like another.
inline std::string counted_text(std::size_t bytes) {
  std::string text(bytes + 24, '\0');
  char* at = text.data();
  for (std::size_t i = 0; at < text.data() + bytes; ++i) {
    at = std::to_chars(at, text.data() + text.size(), i).ptr;
    *at++ = ' ';
  }
  text.resize(bytes);
  return text;
}

inline int option_of(const io::socket& socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(socket.fd(), level, option, &value, &size) == 0);
  return value;
}

/// A blocking connection to it, of no service.
class raw_client {
 public:
  explicit raw_client(const io::endpoint& to)
      : fd_(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(::connect(fd_, to.address(), to.length()) == 0);
  }
  ~raw_client() { ::close(fd_); }
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  /// Its own address.
  [[nodiscard]] std::string name() const {
    sockaddr_storage here;
    socklen_t length = sizeof here;
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&here), &length) == 0);
    return io::endpoint(reinterpret_cast<sockaddr*>(&here), length).text();
  }

 private:
  int fd_;
};

/// A port at which no socket listens.
inline io::endpoint free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const io::endpoint at = any_port();
  REQUIRE(bind(fd, at.address(), at.length()) == 0);
  sockaddr_storage there;
  socklen_t length = sizeof there;
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&there), &length) == 0);
  ::close(fd);
  return {reinterpret_cast<sockaddr*>(&there), length};
}

/// A port whose queue is full, so that further connections are not answered.
class deaf_listener {
 public:
  deaf_listener() : door_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const io::endpoint at = any_port();
    REQUIRE(bind(door_, at.address(), at.length()) == 0);
    REQUIRE(listen(door_, 0) == 0);
    sockaddr_storage there;
    socklen_t length = sizeof there;
    REQUIRE(getsockname(door_, reinterpret_cast<sockaddr*>(&there), &length) == 0);
    address_ = {reinterpret_cast<sockaddr*>(&there), length};
    for (int& each : waiting_) {
      each = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      ::connect(each, address_.address(), address_.length());
    }
  }
  ~deaf_listener() {
    for (const int each : waiting_) ::close(each);
    ::close(door_);
  }
  deaf_listener(const deaf_listener&) = delete;
  deaf_listener& operator=(const deaf_listener&) = delete;
  [[nodiscard]] const io::endpoint& address() const { return address_; }

 private:
  int door_;
  int waiting_[4];
  io::endpoint address_;
};

/// While it lives, this process gets no further descriptor, unless it closes one.
class no_more_descriptors {
 public:
  no_more_descriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    int highest = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      highest = std::max(highest, std::stoi(each.path().filename()));
    }
    // The numbers in between as well: a lower one would be free.
    while (fillers_.empty() || fillers_.back() < highest) fillers_.push_back(dup(0));
    const rlimit none = {static_cast<rlim_t>(fillers_.back()) + 1, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~no_more_descriptors() {
    setrlimit(RLIMIT_NOFILE, &before_);
    for (const int each : fillers_) ::close(each);
  }
  no_more_descriptors(const no_more_descriptors&) = delete;
  no_more_descriptors& operator=(const no_more_descriptors&) = delete;

 private:
  rlimit before_;
  std::vector<int> fillers_;
};
