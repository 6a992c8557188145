#include "workloads/http/blocking.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "workloads/http/resp.hpp"

namespace heddle::lab::http {
namespace {

// For SO_RCVTIMEO and SO_SNDTIMEO, where 0 would be for ever.
timeval to_timeval(session::duration limit) {
  const auto us = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::microseconds>(limit).count());
  return {.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
}

}  // namespace

void blocking_back_end::ask(session& peer) {
  out_.clear();
  write_get(out_, peer.key());
  if (connect() && send_question() && read_answer(peer)) return;
  disconnect();  // its answers could be those to earlier questions
  peer.fetched(session::found::no_back_end);
}

bool blocking_back_end::connect() {
  if (fd_ >= 0) return true;
  fd_ = socket(at_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd_ >= 0 && ::connect(fd_, at_.address(), at_.length()) == 0;
}

void blocking_back_end::disconnect() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  in_.clear();
}

bool blocking_back_end::send_question() {
  while (!out_.empty()) {
    const ssize_t count = send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) out_.take(static_cast<std::size_t>(count));
  }
  return true;
}

bool blocking_back_end::read_answer(session& peer) {
  reply answer;
  reply_state state;
  while ((state = read_reply(in_.text(), answer)) == reply_state::incomplete) {
    if (in_.size() == in_.capacity()) return false;  // no value is so large here
    const coop::io::buffer room = in_.room();
    const ssize_t count = recv(fd_, room.data(), room.size(), 0);
    if (count == 0 || (count < 0 && errno != EINTR)) return false;
    if (count > 0) in_.added(static_cast<std::size_t>(count));
  }
  if (state == reply_state::broken) return false;
  peer.fetched(answer.found ? session::found::value : session::found::nothing, answer.value);
  in_.take(answer.bytes);
  return true;
}

blocking_client::blocking_client(int fd, server_state& server,
                                 const std::optional<back_end_process>& back_end)
    : fd_(fd), server_(server), peer_(server) {
  if (back_end) back_end_.emplace(back_end->address());
  const timeval limit = to_timeval(server.allowed.write);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

blocking_client::~blocking_client() { close(fd_); }

void blocking_client::serve() {
  for (;;) {
    switch (peer_.next()) {
      case session::step::read:
        if (!read_some()) return;
        break;
      case session::step::write:
        if (!write_all()) return;
        break;
      case session::step::fetch:
        back_end_->ask(peer_);
        break;
      case session::step::linger:
        linger();
        return;
      case session::step::close:
        return;
    }
  }
}

void blocking_client::stop_waiting() const {
  if (idle_.load()) shutdown(fd_, SHUT_RD);
}

// The thread that stops the server sets `stopping` and then reads `idle_`; here it is the other way
// round. So one of both sees what the other has set: the order of all four is total
// (memory_order_seq_cst).
bool blocking_client::read_some() {
  wait_at_most(peer_.patience());
  idle_.store(peer_.idle());
  if (server_.stopping.load() && idle_.load()) return false;
  const coop::io::buffer room = peer_.room();
  const ssize_t count = recv(fd_, room.data(), room.size(), 0);
  const int error = errno;
  idle_.store(false);
  if (count >= 0) {
    peer_.received(static_cast<std::size_t>(count));
  } else if (error == EAGAIN) {
    peer_.timed_out();
  }
  return count >= 0 || error == EAGAIN || error == EINTR;
}

bool blocking_client::write_all() {
  while (!peer_.output().empty()) {
    const bytes& out = peer_.output();
    const ssize_t count = send(fd_, out.data(), out.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return false;  // EAGAIN: it has had its time
    if (count > 0) peer_.written(static_cast<std::size_t>(count));
  }
  return true;
}

// Until the client has ended its direction, or has had its time.
void blocking_client::linger() {
  shutdown(fd_, SHUT_WR);
  wait_at_most(server_.allowed.linger);
  char piece[4 * 1024];
  for (std::size_t forgotten = 0; forgotten < server_.allowed.linger_bytes;) {
    const ssize_t count = recv(fd_, piece, sizeof piece, 0);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    if (count > 0) forgotten += static_cast<std::size_t>(count);
  }
}

// A system call, but not for requests that come whole: between them the limit stays the same.
void blocking_client::wait_at_most(session::duration limit) {
  if (limit == limit_) return;
  limit_ = limit;
  const timeval told = to_timeval(limit);
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &told, sizeof told);
}

}  // namespace heddle::lab::http
