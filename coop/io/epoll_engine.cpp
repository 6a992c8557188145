#include "epoll_engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <system_error>

namespace heddle::coop::io::detail {
namespace {

// Waits by the nanosecond where the kernel can (5.11), otherwise by the millisecond, rounded up.
int wait_for_events(int fd, epoll_event* events, int most, std::optional<duration> limit) noexcept {
  if (!limit) return epoll_wait(fd, events, most, -1);
  if (*limit <= duration::zero()) return epoll_wait(fd, events, most, 0);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*limit);
  const timespec length = {seconds.count(), (*limit - seconds).count()};
  const int count = epoll_pwait2(fd, events, most, &length, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(*limit).count();
  return epoll_wait(fd, events, most, static_cast<int>(std::min<std::int64_t>(rounded, INT32_MAX)));
}

}  // namespace

epoll_engine::epoll_engine(int files_fd) : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "epoll: epoll_create1(2)");
  epoll_event wanted = {};
  wanted.events = EPOLLIN;  // with no pointer
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, files_fd, &wanted) != 0) {
    const int error = errno;
    ::close(fd_);
    throw std::system_error(error, std::generic_category(), "epoll: the files' descriptor");
  }
}

epoll_engine::~epoll_engine() { ::close(fd_); }

bool epoll_engine::start(operation& wanted) {
  polled_state& socket = polled(wanted);
  long& outcome = wanted.engine_data<long>() = 0;  // known already, unless 0
  const direction way = wanted.way;
  if (wanted.what == verb::connect) {
    const endpoint& to = wanted.connect->present();
    socket.may[way] = ::connect(wanted.fd, to.address(), to.length()) == 0;
    if (!socket.may[way] && errno != EINPROGRESS && errno != EINTR) outcome = -errno;
  }
  const bool waits = !socket.may[way] || !socket.waiting[way].empty();
  if (waits && outcome == 0 && !watch(socket, wanted.fd)) outcome = -errno;
  (waits && outcome == 0 ? socket.waiting[way] : due_).push(wanted);
  return true;
}

// One that might not have to wait, or whose outcome is known.
void epoll_engine::begin(operation& wanted, completions& to) {
  polled_state& socket = polled(wanted);
  long outcome = wanted.engine_data<long>();
  if (outcome == 0 && !watch(socket, wanted.fd)) outcome = -errno;
  if (outcome != 0) {
    to.complete(wanted, outcome);
    return;
  }
  ++socket.references;
  const file_ref held(&socket);  // an abandoned operation may have the last reference
  const direction way = wanted.way;
  socket.waiting[way].push(wanted);
  run(socket, way, to);
}

bool epoll_engine::watch(polled_state& socket, int fd) noexcept {
  if (socket.watched) return true;
  epoll_event wanted = {};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  wanted.data.ptr = &socket;
  socket.watched = epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &wanted) == 0;
  return socket.watched;
}

void epoll_engine::forget(file_state& closing, int fd) noexcept {
  polled_state& socket = polled(closing);
  if (!socket.watched) return;
  epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
  socket.watched = false;
}

void epoll_engine::cancel(operation& unwanted) {
  if (polled(unwanted).waiting[unwanted.way].remove(unwanted) || due_.remove(unwanted)) {
    cancelled_.push(unwanted);
  }
}

// Makes the calls of those who wait, until one would have to wait.
void epoll_engine::run(polled_state& socket, direction way, completions& to) {
  operation_queue& queue = socket.waiting[way];
  while (socket.may[way] && !queue.empty()) {
    operation& first = *queue.first();
    const long outcome = call_now(first);
    if (outcome == -EAGAIN && !first.tried_again) {
      socket.may[way] = false;
      return;
    }
    queue.pop();
    to.complete(first, outcome);
  }
}

void epoll_engine::collect(completions& to, std::optional<duration> limit) {
  if (!cancelled_.empty() || !due_.empty()) limit = duration::zero();
  operation_queue cancelled;
  std::swap(cancelled, cancelled_);
  while (!cancelled.empty()) to.complete(cancelled.pop(), -ECANCELED);
  operation_queue due;
  std::swap(due, due_);
  while (!due.empty()) begin(due.pop(), to);

  rang_ = false;
  const int count = wait_for_events(fd_, events_, static_cast<int>(std::size(events_)), limit);
  for (int i = 0; i < count; ++i) {
    auto* const socket = static_cast<polled_state*>(events_[i].data.ptr);
    if (socket == nullptr) {
      rang_ = true;
      continue;
    }
    const std::uint32_t come = events_[i].events;
    if ((come & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) socket->hung_up = true;
    ++socket->references;
    const file_ref held(socket);  // as in begin()
    if ((come & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
      socket->may[inward] = true;
      run(*socket, inward, to);
    }
    if ((come & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
      socket->may[outward] = true;
      run(*socket, outward, to);
    }
  }
}

}  // namespace heddle::coop::io::detail
