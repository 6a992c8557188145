#include "workloads/http/stub.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "workloads/http/back_end.hpp"
#include "workloads/http/resp.hpp"

namespace heddle::lab::http {
namespace {

struct peer {
  int fd;
  bytes in{4 * 1024};
  bytes out{4 * 1024};
};

// Whether `text`, the answers, was written.
bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Whether the client is still there.
bool answer_some(peer& one) {
  const coop::io::buffer room = one.in.room();
  const ssize_t count = read(one.fd, room.data(), room.size());
  if (count <= 0) return false;
  one.in.added(static_cast<std::size_t>(count));
  std::size_t taken = 0;
  while (const auto key = read_get(one.in.text(), taken)) {
    if (key->starts_with("missing")) {
      one.out.append("$-1\r\n");
    } else {
      const std::string value = back_end_process::value_of(*key);
      one.out.append("$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
    }
    one.in.take(taken);
  }
  const bool written = write_whole(one.fd, one.out.text());
  one.out.clear();
  return written;
}

void watch(int epoll, int fd, void* what) {
  epoll_event wanted = {};
  wanted.events = EPOLLIN;
  wanted.data.ptr = what;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted) != 0) _exit(1);
}

}  // namespace

void answer_as_redis(int door) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) _exit(1);
  watch(epoll, door, nullptr);
  for (;;) {
    epoll_event event;
    if (epoll_wait(epoll, &event, 1, -1) <= 0) continue;
    auto* const one = static_cast<peer*>(event.data.ptr);
    if (one == nullptr) {
      const int fd = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) _exit(1);
      watch(epoll, fd, new peer{.fd = fd});
    } else if (!answer_some(*one)) {
      close(one->fd);
      delete one;
    }
  }
}

}  // namespace heddle::lab::http
