#include "event.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

namespace heddle::coop::io::detail {

event::event() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "no eventfd");
}

event::~event() { ::close(fd_); }

void event::raise() const noexcept { eventfd_write(fd_, 1); }

void event::clear() const noexcept {
  eventfd_t count;
  eventfd_read(fd_, &count);
}

void event::wait(std::optional<duration> limit) const noexcept {
  pollfd self = {fd_, POLLIN, 0};
  timespec length = {};
  if (limit) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*limit);
    length.tv_sec = seconds.count();
    length.tv_nsec = (*limit - seconds).count();
  }
  ppoll(&self, 1, limit ? &length : nullptr, nullptr);
}

}  // namespace heddle::coop::io::detail
