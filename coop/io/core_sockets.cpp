// The part of the I/O core that only sockets use.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "core.hpp"

namespace heddle::coop::io::detail {
namespace {

// Interval at which operations that the system had no room for are retried, unless a file is closed
// here earlier.
constexpr duration feeding_interval = std::chrono::milliseconds(10);

// Most operations that complete without a wait before other strands have their turn.
constexpr unsigned most_at_once = 32;

// accept(2): these are errors of a connection that is not there any more, or not yet; the next one
// has nothing to do with it.
bool is_of_one_connection(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a firewall's rules
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

bool done_at_once(operation& wanted) noexcept { return wanted.file->owner->try_at_once(wanted); }

bool core::try_at_once(operation& wanted) noexcept {
  polled_state& socket = polled(wanted);
  const coop::detail::strand_block* const self = coop::detail::current_strand;
  if (self == nullptr || self->owner != scheduler_ || self->cancel_pending || stopped()) {
    return false;  // start() says what there is to say
  }
  if (wanted.what == verb::close) {
    if (socket.in_flight != 0) return false;
    const long outcome = close_polled(socket, std::exchange(socket.fd, -1));
    wanted.error = static_cast<int>(-outcome);
    return true;
  }
  const direction way = wanted.way;
  if (!socket.may[way] || !socket.waiting[way].empty() || at_once_ >= most_at_once) return false;
  if (!socket.nonblocking && !says_not_to_wait(wanted)) return false;
  wanted.fd = socket.fd;
  const long outcome = call_now(wanted);
  if (outcome < 0) {
    socket.may[way] = outcome != -EAGAIN || wanted.tried_again;
    if (!wanted.moves_bytes() || outcome == -EAGAIN || outcome == -EINTR) return false;
    wanted.error = static_cast<int>(-outcome);
    return true;
  }
  ++at_once_;
  if (!wanted.moves_bytes()) {
    take_outcome(wanted, outcome);
    return true;
  }
  count_bytes(wanted, outcome);
  return !wanted.whole || wanted.done >= wanted.size || is_enough(wanted, outcome);
}

long core::close_polled(polled_state& socket, int fd) noexcept {
  if (sockets_ != nullptr) {
    sockets_->forget(socket, fd);
  } else if (!stopped()) {
    engine_->forget(socket, fd);
  }
  const long outcome = ::close(fd) == 0 ? 0 : -errno;
  if (!starved_.empty()) feeding_time_ = {};  // now
  return outcome;
}

void core::tell_ended() noexcept {
  operation_queue ended;
  std::swap(ended, ended_);
  while (!ended.empty()) {
    operation& each = ended.pop();
    complete(each, each.what == verb::close ? close_polled(polled(each), each.fd) : -ECANCELED);
  }
}

void core::begin_connect(operation& wanted) noexcept {
  if (wanted.connect->host.empty()) {
    connect_next(wanted);
  } else if (!resolver_.start(wanted, *engine_)) {
    complete(wanted, -EAGAIN);  // no thread
  }
}

// Tries the next address, if the names' addresses are known.
void core::connect_next(operation& wanted) noexcept {
  connecting& plan = *wanted.connect;
  while (plan.next < plan.addresses.size()) {
    const endpoint& to = plan.addresses[plan.next++];
    polled_state& socket = polled(wanted);
    wanted.fd =
        ::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | (nonblocking() ? SOCK_NONBLOCK : 0), 0);
    if (wanted.fd < 0) {
      wanted.error = errno;
      continue;
    }
    prepare_stream(socket, to.family(), wanted.fd);
    socket.nonblocking = nonblocking();
    socket.hung_up = false;
    wanted.error = 0;
    submit(wanted);
    return;
  }
  finish(wanted);  // with the error of the last try
}

// Retries an operation whose failure is not final. Returns whether it continues.
bool core::goes_on(operation& failed, int error) noexcept {
  if (failed.tried_again && error == EAGAIN && !failed.cancel_asked) {
    starve(failed);
    return true;
  }
  if (failed.what == verb::connect) {
    if (failed.fd < 0) return false;
    if (error == EAGAIN && !failed.cancel_asked) {  // a Unix socket with a full queue
      starve(failed);
      return true;
    }
    close_polled(polled(failed), std::exchange(failed.fd, -1));
    if (failed.cancel_asked || error == ECANCELED) return false;
    failed.error = error;
    connect_next(failed);
    return true;
  }
  if (failed.what != verb::accept || failed.cancel_asked) return false;
  if (is_of_one_connection(error)) {
    submit(failed);
    return true;
  }
  if (!is_shortage(error)) return false;
  ++polled(failed).shortages;
  starve(failed);
  return true;
}

void core::starve(operation& wanted) noexcept {
  if (starved_.empty()) feeding_time_ = std::chrono::steady_clock::now() + feeding_interval;
  starved_.push(wanted);
}

void core::feed_starved() noexcept {
  operation_queue hungry;
  std::swap(hungry, starved_);
  while (!hungry.empty()) submit(hungry.pop());
}

void prepare_stream(polled_state& socket, int family, int fd) noexcept {
  socket.short_is_empty = family == AF_INET || family == AF_INET6;
  const int on = 1;
  // Without Nagle's algorithm: a program that writes a whole message wants it to be sent.
  if (socket.short_is_empty) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace heddle::coop::io::detail
