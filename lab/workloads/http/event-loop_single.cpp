// One thread, epoll(7), a state machine a connection: nothing between the system calls and the
// session. Level-triggered, one read an event: the cheapest there is for requests that come whole.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/throw_errno.hpp"
#include "workloads/http/resp.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {
namespace {

using clock = std::chrono::steady_clock;

// The file that an event of epoll concerns.
struct source {
  enum class kind { door, stop, back_end, client } is;
  int fd;
};

struct client : source {
  session peer;
  std::uint32_t wanted = EPOLLIN;
  bool readable = false;  // epoll has said so, and nothing was read since
  bool lingering = false;
  bool fetching = false;  // in the back end's queue, and not dropped meanwhile
  bool gone = false;
  std::size_t forgotten = 0;
  clock::time_point deadline;

  client(int its_fd, server_state& server) : source{kind::client, its_fd}, peer(server) {}
};

class server {
 public:
  explicit server(problem& work)
      : work_(work),
        state_(work.server()),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        door_{source::kind::door, work.door()},
        stop_{source::kind::stop, stop_signals()},
        back_end_{source::kind::back_end, -1} {
    if (epoll_ < 0) throw_errno("epoll_create1(2)");
    if (fcntl(door_.fd, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(2)");
    watch(door_, EPOLLIN);
    watch(stop_, EPOLLIN);
    if (work.back_end()) connect_back_end();
  }
  ~server() {
    if (back_end_.fd >= 0) close(back_end_.fd);
    close(stop_.fd);
    close(epoll_);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void run() {
    clock::time_point next_sweep = clock::now() + state_.allowed.sweep_interval();
    while (!state_.stopping || !clients_.empty()) {
      epoll_event events[128];
      const auto most = std::chrono::milliseconds(state_.allowed.sweep_interval()).count();
      const int count = epoll_wait(epoll_, events, 128, static_cast<int>(most));
      if (count < 0 && errno != EINTR) throw_errno("epoll_wait(2)");
      now_ = clock::now();
      for (int i = 0; i < count; ++i) {
        handle(*static_cast<source*>(events[i].data.ptr), events[i].events);
      }
      write_back_end();
      if (now_ >= next_sweep) {
        sweep();
        next_sweep = now_ + state_.allowed.sweep_interval();
      }
      dead_.clear();
    }
  }

 private:
  static int stop_signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    const int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) throw_errno("signalfd(2)");
    return fd;
  }

  void watch(source& added, std::uint32_t events) {
    epoll_event wanted = {};
    wanted.events = events;
    wanted.data.ptr = &added;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, added.fd, &wanted) != 0) throw_errno("epoll_ctl(2)");
  }
  void rewatch(source& known, std::uint32_t events) {
    epoll_event wanted = {};
    wanted.events = events;
    wanted.data.ptr = &known;
    if (epoll_ctl(epoll_, EPOLL_CTL_MOD, known.fd, &wanted) != 0) throw_errno("epoll_ctl(2)");
  }

  void handle(source& from, std::uint32_t events) {
    switch (from.is) {
      case source::kind::door:
        accept_all();
        break;
      case source::kind::stop:
        stop();
        break;
      case source::kind::back_end:
        hear_back_end(events);
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

  void accept_all() {
    while (clients_.size() < state_.allowed.connections) {
      const int fd = accept4(door_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;  // none, or no descriptor: epoll says so again
      auto made = std::make_unique<client>(fd, state_);
      client& one = *made;
      clients_.emplace(&one, std::move(made));
      state_.opened();
      watch(one, EPOLLIN);
      one.deadline = now_ + one.peer.patience();
    }
    if (door_watched_) epoll_ctl(epoll_, EPOLL_CTL_DEL, door_.fd, nullptr);
    door_watched_ = false;
  }

  void stop() {
    signalfd_siginfo come;
    if (read(stop_.fd, &come, sizeof come) < 0) return;  // none after all
    state_.stopping = true;
    if (door_watched_) epoll_ctl(epoll_, EPOLL_CTL_DEL, door_.fd, nullptr);
    door_watched_ = false;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, stop_.fd, nullptr);
    for (const auto& [each, owned] : clients_) {
      if (each->peer.idle()) shutdown(each->fd, SHUT_RD);
    }
  }

  // Does what can be done for it without waiting.
  void advance(client& one) {
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
          ask_back_end(one);
          return;
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

  void want(client& one, std::uint32_t events, session::duration limit) {
    one.deadline = now_ + limit;
    if (one.wanted == events) return;
    one.wanted = events;
    rewatch(one, events);
  }

  // Returns whether the session goes on.
  bool read_some(client& one) {
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

  bool write_some(client& one) {
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

  void forget_input(client& one) {
    char piece[16 * 1024];
    const ssize_t count = recv(one.fd, piece, sizeof piece, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) one.forgotten += static_cast<std::size_t>(count);
    if (count <= 0 || one.forgotten > state_.allowed.linger_bytes) drop(one);
  }

  void drop(client& one) {
    close(one.fd);
    --state_.open;
    one.gone = true;
    const auto found = clients_.find(&one);
    dead_.push_back(std::move(found->second));  // an event of this round may still point to it
    clients_.erase(found);
    if (!door_watched_ && !state_.stopping) {
      watch(door_, EPOLLIN);
      door_watched_ = true;
    }
  }

  void sweep() {
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

  void connect_back_end() {
    const coop::io::endpoint& to = work_.back_end()->address();
    back_end_.fd = socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (back_end_.fd < 0 || connect(back_end_.fd, to.address(), to.length()) != 0) {
      throw_errno("the back end");
    }
    watch(back_end_, EPOLLIN);
  }

  void ask_back_end(client& one) {
    one.fetching = true;
    waiting_.push_back(&one);
    write_get(to_back_end_, one.peer.key());
  }

  // Sends the requests to the back end that a round has collected, at the round's end.
  void write_back_end() {
    if (to_back_end_.empty()) return;
    const ssize_t count =
        send(back_end_.fd, to_back_end_.data(), to_back_end_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) to_back_end_.take(static_cast<std::size_t>(count));
    const std::uint32_t wanted = EPOLLIN | (to_back_end_.empty() ? 0U : EPOLLOUT);
    if (wanted != back_end_wanted_) rewatch(back_end_, wanted);
    back_end_wanted_ = wanted;
  }

  void hear_back_end(std::uint32_t events) {
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return;
    const coop::io::buffer room = from_back_end_.room();
    const ssize_t count = recv(back_end_.fd, room.data(), room.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) throw std::runtime_error("the back end has ended its connection");
    from_back_end_.added(static_cast<std::size_t>(count));
    reply answer;
    reply_state state;
    while ((state = read_reply(from_back_end_.text(), answer)) == reply_state::whole) {
      client& one = *waiting_.front();
      waiting_.pop_front();
      one.fetching = false;
      one.peer.fetched(answer.found ? session::found::value : session::found::nothing,
                       answer.value);
      from_back_end_.take(answer.bytes);
      advance(one);
    }
    if (state == reply_state::broken) throw std::runtime_error("the back end makes no sense");
  }

  problem& work_;
  server_state& state_;
  int epoll_;
  source door_;
  source stop_;
  source back_end_;
  std::uint32_t back_end_wanted_ = EPOLLIN;
  bool door_watched_ = true;
  clock::time_point now_ = clock::now();
  std::unordered_map<client*, std::unique_ptr<client>> clients_;
  std::vector<std::unique_ptr<client>> dead_;
  std::deque<client*> waiting_;
  bytes to_back_end_{16 * 1024};
  bytes from_back_end_{64 * 1024};
};

void run(problem& work, region& timed) {
  server one(work);
  timed.begin();
  one.run();
  timed.end();
}

const model<problem> registered{"event-loop/single", &run};

}  // namespace
}  // namespace heddle::lab::http
