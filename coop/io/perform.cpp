#include "perform.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace heddle::coop::io::detail {
namespace {

long outcome(long returned) noexcept { return returned < 0 ? -errno : returned; }

// Returns 0 once the file is ready.
long wait_until_ready(const operation& wanted, int cancelled_fd) noexcept {
  const short events = wanted.what == verb::read ? POLLIN : POLLOUT;
  pollfd files[] = {{wanted.fd, events, 0}, {cancelled_fd, POLLIN, 0}};
  while (poll(files, 2, -1) < 0) {
    if (errno != EINTR && errno != EAGAIN) return -errno;
  }
  return files[1].revents != 0 ? -ECANCELED : 0;
}

}  // namespace

long perform(const operation& wanted, int cancelled_fd) noexcept {
  if (wanted.moves_bytes() && !wanted.prompt) {
    const long not_ready = wait_until_ready(wanted, cancelled_fd);
    if (not_ready != 0) return not_ready;
  }
  const int fd = wanted.fd;
  const bool at_position = wanted.offset < 0;
  switch (wanted.what) {
    case verb::open:
      return outcome(::open(wanted.file->name.c_str(), wanted.flags, wanted.mode));
    case verb::close:
      return outcome(::close(fd));
    case verb::read:
      return outcome(at_position
                         ? ::read(fd, wanted.rest(), wanted.rest_bytes())
                         : pread(fd, wanted.rest(), wanted.rest_bytes(), wanted.rest_offset()));
    case verb::write:
      return outcome(at_position
                         ? ::write(fd, wanted.rest(), wanted.rest_bytes())
                         : pwrite(fd, wanted.rest(), wanted.rest_bytes(), wanted.rest_offset()));
    case verb::fsync:
      return outcome(::fsync(fd));
    case verb::fdatasync:
      return outcome(::fdatasync(fd));
    case verb::size:
      return outcome(
          statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, reinterpret_cast<struct statx*>(wanted.data)));
    case verb::receive:
    case verb::send:
    case verb::accept:
    case verb::connect:
    case verb::readable:
    case verb::receive_from:
    case verb::send_to:
      break;  // are epoll's
  }
  return -EINVAL;
}

}  // namespace heddle::coop::io::detail
