#include "polled.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace heddle::coop::io::detail {
namespace {

long outcome(long returned) noexcept { return returned < 0 ? -errno : returned; }

// EWOULDBLOCK is EAGAIN on Linux.
static_assert(EAGAIN == EWOULDBLOCK);

// The outcome of a connect that was begun: 0, -EAGAIN if it is not over, or another negative error.
long connected(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return -errno;
  if (error != 0) return -error;
  sockaddr_storage peer;
  size = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0) return 0;
  return errno == ENOTCONN ? -EAGAIN : -errno;
}

}  // namespace

void gathered_deleter::operator()(gathered* parts) const noexcept { delete parts; }
void envelope_deleter::operator()(envelope* around) const noexcept { delete around; }
void connecting_deleter::operator()(connecting* plan) const noexcept { delete plan; }

void gathered::skip(std::size_t bytes) noexcept {
  while (header.msg_iovlen != 0) {
    iovec& first = *header.msg_iov;
    if (bytes < first.iov_len) {
      first.iov_base = static_cast<std::byte*>(first.iov_base) + bytes;
      first.iov_len -= bytes;
      return;
    }
    bytes -= first.iov_len;
    ++header.msg_iov;
    --header.msg_iovlen;
  }
}

long call_now(operation& wanted) noexcept {
  const int fd = wanted.fd;
  switch (wanted.what) {
    case verb::receive:
      return outcome(recv(fd, wanted.rest(), wanted.rest_bytes(), MSG_DONTWAIT));
    case verb::send:
      if (wanted.parts != nullptr) {
        return outcome(sendmsg(fd, &wanted.parts->header, MSG_DONTWAIT | MSG_NOSIGNAL));
      }
      return outcome(send(fd, wanted.rest(), wanted.rest_bytes(), MSG_DONTWAIT | MSG_NOSIGNAL));
    case verb::receive_from:
      // MSG_TRUNC: results in the length that it had.
      return outcome(recvmsg(fd, &wanted.around->header, MSG_DONTWAIT | MSG_TRUNC));
    case verb::send_to:
      return outcome(sendmsg(fd, &wanted.around->header, MSG_DONTWAIT | MSG_NOSIGNAL));
    case verb::read:
      return outcome(::read(fd, wanted.rest(), wanted.rest_bytes()));
    case verb::write:
      return outcome(::write(fd, wanted.rest(), wanted.rest_bytes()));
    case verb::accept:
      return outcome(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
    case verb::connect:
      return connected(fd);
    case verb::readable: {
      pollfd self = {fd, POLLIN, 0};
      const int count = poll(&self, 1, 0);
      return count > 0 ? 0 : count == 0 ? -EAGAIN : -errno;
    }
    case verb::open:
    case verb::close:
    case verb::fsync:
    case verb::fdatasync:
    case verb::size:
      break;
  }
  return -EINVAL;
}

}  // namespace heddle::coop::io::detail
