// The service's functions for sockets.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "core.hpp"
#include "heddle/coop/io/service.hpp"
#include "polled.hpp"

namespace heddle::coop::io {

using detail::file_ref;
using detail::polled_state;

namespace {

// Counts the core, for the file.
polled_state* make_state(detail::core& owner, std::string name, int fd = -1) {
  owner.allow_sockets();
  auto* const made = new polled_state(&owner, std::move(name), fd);
  owner.acquire();
  return made;
}

detail::operation_awaitable<socket> connecting_to(polled_state* to,
                                                  std::unique_ptr<detail::connecting> plan) {
  auto* const wanted = new detail::operation(detail::verb::connect, file_ref(to));
  wanted->connect.reset(plan.release());
  return detail::operation_awaitable<socket>(wanted);
}

int family_of(int fd) noexcept {
  int family = 0;
  socklen_t length = sizeof family;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 ? family : 0;
}

// `nonblocking`: what it becomes, if it must; io_uring's requests on a descriptor that is
// O_NONBLOCK would end instead of waiting. Epoll's receives and sends say themselves that they do
// not wait.
file_ref adopted(detail::core& owner, int fd, std::string name, bool nonblocking) {
  polled_state* const state = make_state(owner, std::move(name), fd);
  const int family = family_of(fd);
  state->short_is_empty = family == AF_INET || family == AF_INET6;
  const int flags = fcntl(fd, F_GETFL);
  const int wanted = nonblocking            ? flags | O_NONBLOCK
                     : !owner.nonblocking() ? flags & ~O_NONBLOCK
                                            : flags;
  if (flags >= 0 && wanted != flags) fcntl(fd, F_SETFL, wanted);
  state->nonblocking = flags >= 0 && (wanted & O_NONBLOCK) != 0;
  return file_ref(state);
}

// Its calls say themselves that they do not wait.
polled_state* datagram_state(detail::core& owner, const endpoint& at) {
  polled_state* const made = make_state(owner, at.text());
  made->fd = ::socket(at.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return made;
}

// 0, or -1 and errno.
int listen_at(int fd, const endpoint& at, const listen_options& options) noexcept {
  const int on = 1;
  if (at.family() != AF_UNIX) {
    // A server that is started again need not wait for its former connections' end.
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Accepted connections inherit this option.
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (options.reuse_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
    return -1;
  }
  if (bind(fd, at.address(), at.length()) != 0) return -1;
  return ::listen(fd, options.backlog);
}

}  // namespace

result<listener> service::listen(const endpoint& at, const listen_options& options) const {
  polled_state* const state = make_state(*core_, at.text());
  listener made{file_ref(state)};
  state->nonblocking = core_->nonblocking();
  state->short_is_empty = at.family() != AF_UNIX;
  state->exclusive = true;
  state->fd = ::socket(at.family(),
                       SOCK_STREAM | SOCK_CLOEXEC | (state->nonblocking ? SOCK_NONBLOCK : 0), 0);
  if (state->fd < 0 || listen_at(state->fd, at, options) != 0) {
    return {errno, "a listener at " + state->name};
  }
  return result(std::move(made));
}

detail::operation_awaitable<socket> service::connect(const endpoint& to) const {
  auto plan = std::make_unique<detail::connecting>();
  plan->addresses.push_back(to);
  return connecting_to(make_state(*core_, to.text()), std::move(plan));
}

detail::operation_awaitable<socket> service::connect(std::string host, std::uint16_t port) const {
  auto plan = std::make_unique<detail::connecting>();
  std::string name = host + ':' + std::to_string(port);
  plan->host = std::move(host);
  plan->port = port;
  return connecting_to(make_state(*core_, std::move(name)), std::move(plan));
}

listener service::adopt_listener(int fd, std::string name) const {
  return listener(adopted(*core_, fd, std::move(name), core_->nonblocking()));
}

socket service::adopt_socket(int fd, std::string name) const {
  return socket(adopted(*core_, fd, std::move(name), false));
}

result<datagram_socket> service::datagrams_at(const endpoint& at,
                                              const datagram_options& options) const {
  datagram_socket made{file_ref(datagram_state(*core_, at))};
  const int on = 1;
  if (made.fd() < 0 ||
      (options.reuse_port &&
       setsockopt(made.fd(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) ||
      bind(made.fd(), at.address(), at.length()) != 0) {
    const int error = errno;
    return {error, "a socket for datagrams at " + at.text()};
  }
  return result(std::move(made));
}

result<datagram_socket> service::datagrams_to(const endpoint& to) const {
  datagram_socket made{file_ref(datagram_state(*core_, to))};
  if (made.fd() < 0 || ::connect(made.fd(), to.address(), to.length()) != 0) {
    const int error = errno;
    return {error, "a socket for datagrams to " + to.text()};
  }
  return result(std::move(made));
}

datagram_socket service::adopt_datagrams(int fd, std::string name) const {
  file_ref state = adopted(*core_, fd, std::move(name), false);
  detail::polled(*state.get()).short_is_empty = false;
  return datagram_socket(std::move(state));
}

const std::string& service::socket_choice() const noexcept { return core_->socket_choice(); }

}  // namespace heddle::coop::io
