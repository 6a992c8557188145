#include "workloads/http/event_loop.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "harness/throw_errno.hpp"
#include "workloads/http/resp.hpp"

namespace heddle::lab::http {
namespace {

int stop_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  const int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw_errno("signalfd(2)");
  return fd;
}

}  // namespace

// A connection to the back end, whose answers come in the order of the questions.
struct event_loop::back_end : source {
  explicit back_end(int its_fd) : source{kind::back_end, its_fd} {}
  ~back_end() { close(fd); }
  back_end(const back_end&) = delete;
  back_end& operator=(const back_end&) = delete;

  std::deque<client*> waiting;
  std::uint32_t wanted = EPOLLIN;
  bool to_write = false;  // in the loop's list
  bytes out{4 * 1024};
  bytes in{16 * 1024};
};

struct event_loop::client : source {
  session peer;
  std::size_t number;  // of the loop's clients
  std::uint32_t wanted = EPOLLIN;
  bool readable = false;  // epoll has said so, and nothing was read since
  bool lingering = false;
  bool fetching = false;  // in a back end's queue, and not dropped meanwhile
  bool gone = false;
  std::size_t forgotten = 0;
  clock::time_point deadline;

  client(int its_fd, server_state& server, std::size_t its_number)
      : source{kind::client, its_fd}, peer(server), number(its_number) {}
};

event_loop::event_loop(problem& work, clients_from where, int back_ends)
    : work_(work), state_(work.server()), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw_errno("epoll_create1(2)");
  if (where == clients_from::door) {
    door_.fd = work.door();
    if (fcntl(door_.fd, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(2)");
    watch(door_, EPOLLIN);
    door_watched_ = true;
    stop_.fd = stop_signals();
    watch(stop_, EPOLLIN);
  } else {
    inbox_.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (inbox_.fd < 0) throw_errno("eventfd(2)");
    watch(inbox_, EPOLLIN);
  }
  for (int i = 0; work.back_end() && i < back_ends; ++i) back_ends_.push_back(connect_back_end());
}

event_loop::~event_loop() {
  if (stop_.fd >= 0) close(stop_.fd);
  if (inbox_.fd >= 0) close(inbox_.fd);
  close(epoll_);
}

void event_loop::run() {
  clock::time_point next_sweep = clock::now() + state_.allowed.sweep_interval();
  while (!stopping_ || !clients_.empty()) {
    epoll_event events[128];
    const auto most = std::chrono::milliseconds(state_.allowed.sweep_interval()).count();
    const int count = epoll_wait(epoll_, events, 128, static_cast<int>(most));
    if (count < 0 && errno != EINTR) throw_errno("epoll_wait(2)");
    now_ = clock::now();
    for (int i = 0; i < count; ++i) {
      handle(*static_cast<source*>(events[i].data.ptr), events[i].events);
    }
    write_back_ends();
    if (now_ >= next_sweep) {
      sweep();
      next_sweep = now_ + state_.allowed.sweep_interval();
    }
    dead_.clear();
  }
}

void event_loop::adopt(int fd) {
  {
    const std::lock_guard lock(mutex_);
    adopted_.push_back(fd);
  }
  signal_inbox();
}

void event_loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    told_to_stop_ = true;
  }
  signal_inbox();
}

void event_loop::signal_inbox() {
  const std::uint64_t one = 1;
  if (write(inbox_.fd, &one, sizeof one) != sizeof one) throw_errno("write(2) to an eventfd");
}

void event_loop::watch(source& added, std::uint32_t events) {
  epoll_event wanted = {};
  wanted.events = events;
  wanted.data.ptr = &added;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, added.fd, &wanted) != 0) throw_errno("epoll_ctl(2)");
}

void event_loop::rewatch(source& known, std::uint32_t events) {
  epoll_event wanted = {};
  wanted.events = events;
  wanted.data.ptr = &known;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, known.fd, &wanted) != 0) throw_errno("epoll_ctl(2)");
}

void event_loop::handle(source& from, std::uint32_t events) {
  switch (from.is) {
    case source::kind::door:
      accept_all();
      break;
    case source::kind::stop:
      take_stop_signal();
      break;
    case source::kind::inbox:
      empty_inbox();
      break;
    case source::kind::back_end:
      hear_back_end(static_cast<back_end&>(from), events);
      break;
    case source::kind::client: {
      auto& one = static_cast<client&>(from);
      if (one.gone) break;
      one.readable = (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0;
      advance(one);
      break;
    }
  }
}

void event_loop::accept_all() {
  while (clients_.size() < state_.allowed.connections) {
    const int fd = accept4(door_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;  // none, or no descriptor: epoll says so again
    state_.opened();
    add_client(fd);
  }
  end_accepting();
}

void event_loop::end_accepting() {
  if (door_watched_) epoll_ctl(epoll_, EPOLL_CTL_DEL, door_.fd, nullptr);
  door_watched_ = false;
}

event_loop::client& event_loop::add_client(int fd) {
  auto made = std::make_unique<client>(fd, state_, served_++);
  client& one = *made;
  clients_.emplace(&one, std::move(made));
  watch(one, EPOLLIN);
  one.deadline = now_ + one.peer.patience();
  return one;
}

void event_loop::take_stop_signal() {
  signalfd_siginfo come;
  if (read(stop_.fd, &come, sizeof come) < 0) return;  // none after all
  state_.stopping = true;
  end_accepting();
  epoll_ctl(epoll_, EPOLL_CTL_DEL, stop_.fd, nullptr);
  begin_stopping();
}

void event_loop::empty_inbox() {
  std::uint64_t count;
  if (read(inbox_.fd, &count, sizeof count) < 0) return;  // nothing after all
  std::vector<int> come;
  bool stops = false;
  {
    const std::lock_guard lock(mutex_);
    come.swap(adopted_);
    stops = told_to_stop_;
  }
  for (const int fd : come) add_client(fd);
  if (stops) begin_stopping();
}

void event_loop::begin_stopping() {
  stopping_ = true;
  for (const auto& [each, owned] : clients_) {
    if (each->peer.idle()) shutdown(each->fd, SHUT_RD);
  }
}

// Does what can be done for it without waiting.
void event_loop::advance(client& one) {
  if (one.lingering) {
    forget_input(one);
    return;
  }
  if (one.fetching) return;
  for (;;) {
    switch (one.peer.next()) {
      case session::step::read:
        if (!one.readable) {
          want(one, EPOLLIN, one.peer.patience());
          return;
        }
        if (!read_some(one)) return;
        break;
      case session::step::write:
        if (!write_some(one)) return;
        break;
      case session::step::fetch:
        if (!back_ends_.empty()) {
          ask_back_end(one);
          return;
        }
        one.peer.fetched(session::found::no_back_end);
        break;
      case session::step::linger:
        shutdown(one.fd, SHUT_WR);
        one.lingering = true;
        want(one, EPOLLIN, state_.allowed.linger);
        return;
      case session::step::close:
        drop(one);
        return;
    }
  }
}

void event_loop::want(client& one, std::uint32_t events, session::duration limit) {
  one.deadline = now_ + limit;
  if (one.wanted == events) return;
  one.wanted = events;
  rewatch(one, events);
}

// Returns whether the session goes on.
bool event_loop::read_some(client& one) {
  const coop::io::buffer room = one.peer.room();
  const ssize_t count = recv(one.fd, room.data(), room.size(), 0);
  one.readable = false;
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    drop(one);
    return false;
  }
  one.peer.received(static_cast<std::size_t>(count));
  return true;
}

bool event_loop::write_some(client& one) {
  const bytes& out = one.peer.output();
  const ssize_t count = send(one.fd, out.data(), out.size(), MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    drop(one);
    return false;
  }
  if (count > 0) one.peer.written(static_cast<std::size_t>(count));
  if (one.peer.output().empty()) return true;
  want(one, EPOLLOUT, state_.allowed.write);
  return false;
}

void event_loop::forget_input(client& one) {
  char piece[16 * 1024];
  const ssize_t count = recv(one.fd, piece, sizeof piece, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) one.forgotten += static_cast<std::size_t>(count);
  if (count <= 0 || one.forgotten > state_.allowed.linger_bytes) drop(one);
}

void event_loop::drop(client& one) {
  close(one.fd);
  --state_.open;
  one.gone = true;
  const auto found = clients_.find(&one);
  dead_.push_back(std::move(found->second));  // an event of this round may still point to it
  clients_.erase(found);
  if (door_.fd >= 0 && !door_watched_ && !stopping_) {
    watch(door_, EPOLLIN);
    door_watched_ = true;
  }
}

void event_loop::sweep() {
  std::vector<client*> late;
  for (const auto& [each, owned] : clients_) {
    if (!each->fetching && each->deadline <= now_) late.push_back(each);
  }
  for (client* const each : late) {
    if (each->lingering || each->wanted == EPOLLOUT) {
      drop(*each);
    } else {
      each->peer.timed_out();
      advance(*each);
    }
  }
}

std::unique_ptr<event_loop::back_end> event_loop::connect_back_end() {
  const coop::io::endpoint& to = work_.back_end()->address();
  const int fd = socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw_errno("socket(2)");
  auto made = std::make_unique<back_end>(fd);
  if (connect(fd, to.address(), to.length()) != 0) throw_errno("the back end");
  watch(*made, EPOLLIN);
  return made;
}

// A client's questions all go over the same connection.
void event_loop::ask_back_end(client& one) {
  back_end& to = *back_ends_[one.number % back_ends_.size()];
  one.fetching = true;
  to.waiting.push_back(&one);
  write_get(to.out, one.peer.key());
  if (!std::exchange(to.to_write, true)) to_write_.push_back(&to);
}

// Sends the questions that a round has collected, at the round's end.
void event_loop::write_back_ends() {
  for (back_end* const each : to_write_) {
    each->to_write = false;
    const ssize_t count =
        send(each->fd, each->out.data(), each->out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) each->out.take(static_cast<std::size_t>(count));
    const std::uint32_t wanted = EPOLLIN | (each->out.empty() ? 0U : EPOLLOUT);
    if (wanted != each->wanted) rewatch(*each, wanted);
    each->wanted = wanted;
  }
  to_write_.clear();
}

void event_loop::hear_back_end(back_end& from, std::uint32_t events) {
  // What is left of the questions goes out at the round's end.
  if ((events & EPOLLOUT) != 0 && !std::exchange(from.to_write, true)) to_write_.push_back(&from);
  if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return;
  const coop::io::buffer room = from.in.room();
  const ssize_t count = recv(from.fd, room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) throw std::runtime_error("the back end has ended its connection");
  from.in.added(static_cast<std::size_t>(count));
  reply answer;
  reply_state state;
  while ((state = read_reply(from.in.text(), answer)) == reply_state::whole) {
    client& one = *from.waiting.front();
    from.waiting.pop_front();
    one.fetching = false;
    one.peer.fetched(answer.found ? session::found::value : session::found::nothing, answer.value);
    from.in.take(answer.bytes);
    advance(one);
  }
  if (state == reply_state::broken) throw std::runtime_error("the back end makes no sense");
}

}  // namespace heddle::lab::http
