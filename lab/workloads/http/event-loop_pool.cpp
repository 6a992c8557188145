// I/O multiplexing with a thread pool: one epoll(7) that all workers wait at. The worker that
// gets a connection's event (EPOLLONESHOT: no other does until it is watched again) reads, answers,
// asks the back end over a connection of its own and waits for it, and lets the kernel watch the
// connection again. So the kernel's list of what is ready is the pool's queue, and no request is
// handed from thread to thread.
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "harness/throw_errno.hpp"
#include "heddle/coop/ext/sanitizer.hpp"
#include "workloads/http/blocking.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {
namespace {

using clock = std::chrono::steady_clock;

// A connection belongs to the worker that has got its event, until it sets the deadline of what it
// waits for next; the atomics are for those who look at all connections.
struct client {
  client(int its_fd, server_state& server) : fd(its_fd), peer(server) {}

  const int fd;
  session peer;
  bool lingering = false;
  std::size_t forgotten = 0;
  std::list<client>::iterator place;

  std::atomic<bool> idle{false};      // waits for a request of which nothing has come
  std::atomic<bool> ends_both{true};  // rather than reading alone, if it is late
  std::atomic<bool> late{false};
  std::atomic<clock::duration> deadline{clock::duration::max()};
};

class server {
 public:
  explicit server(problem& work)
      : work_(work),
        state_(work.server()),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        over_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (epoll_ < 0) throw_errno("epoll_create1(2)");
    if (over_ < 0) throw_errno("eventfd(2)");
    if (fcntl(work.door(), F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(2)");
    watch(EPOLL_CTL_ADD, work.door(), EPOLLIN | EPOLLONESHOT, &door_);
    watch(EPOLL_CTL_ADD, over_, EPOLLIN, &over_);
  }
  ~server() {
    close(over_);
    close(epoll_);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void run(int workers) {
    std::vector<std::thread> pool;
    for (int i = 0; i < workers; ++i) pool.emplace_back([this] { work(); });
    wait_for_stop();
    stop_all();
    wait_for_last();
    const std::uint64_t one = 1;
    if (write(over_, &one, sizeof one) != sizeof one) throw_errno("write(2) to an eventfd");
    for (std::thread& each : pool) each.join();
  }

 private:
  // Fails only for what is no longer watched, as the door when the server stops.
  bool watch(int operation, int fd, std::uint32_t events, void* what) const {
    epoll_event wanted = {};
    wanted.events = events;
    wanted.data.ptr = what;
#if defined(HEDDLE_TSAN)
    // It takes this for a use of `fd` that nothing orders before another worker's close(). The
    // kernel has a reference of its own when it lets that worker run.
    if (operation == EPOLL_CTL_MOD) {
      return syscall(SYS_epoll_ctl, epoll_, operation, fd, &wanted) == 0;
    }
#endif
    return epoll_ctl(epoll_, operation, fd, &wanted) == 0;
  }

  // The main thread, until SIGTERM: clients that are too slow.
  void wait_for_stop() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    const auto interval = state_.allowed.sweep_interval();
    const timespec wait = {.tv_sec = interval.count() / 1000,
                           .tv_nsec = interval.count() % 1000 * 1'000'000};
    while (sigtimedwait(&stop, nullptr, &wait) != SIGTERM) sweep();
  }

  void wait_for_last() {
    std::unique_lock lock(mutex_);
    while (!all_gone_.wait_for(lock, state_.allowed.sweep_interval(),
                               [&] { return clients_.empty(); })) {
      lock.unlock();
      sweep();
      lock.lock();
    }
  }

  void stop_all() {
    state_.stopping = true;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, work_.door(), nullptr);
    const std::lock_guard lock(mutex_);
    for (const client& each : clients_) {
      if (each.idle.load()) shutdown(each.fd, SHUT_RD);
    }
  }

  // A late one's worker is woken by the end of what it waits for.
  void sweep() {
    const clock::duration now = clock::now().time_since_epoch();
    const std::lock_guard lock(mutex_);
    for (client& each : clients_) {
      if (each.deadline.load() > now) continue;
      each.deadline = clock::duration::max();
      each.late = true;
      shutdown(each.fd, each.ends_both ? SHUT_RDWR : SHUT_RD);
    }
  }

  void work() {
    std::optional<blocking_back_end> back_end;
    if (work_.back_end()) back_end.emplace(work_.back_end()->address());
    for (;;) {
      // One: others may take the next, as this thread may have to wait for the back end.
      epoll_event event;
      if (epoll_wait(epoll_, &event, 1, -1) <= 0) continue;
      if (event.data.ptr == &over_) return;
      if (event.data.ptr == &door_) {
        accept_all();
      } else {
        advance(*static_cast<client*>(event.data.ptr), back_end);
      }
    }
  }

  void accept_all() {
    while (state_.open < most_open()) {
      const std::lock_guard lock(mutex_);  // who stops the server looks at all under it
      if (state_.stopping) return;
      const int fd = accept4(work_.door(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) break;
      client& one = clients_.emplace_front(fd, state_);
      one.place = clients_.begin();
      state_.opened();
      one.ends_both = false;
      one.idle = true;
      one.deadline = deadline_after(one.peer.patience());
      watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, &one);
    }
    if (state_.open < most_open()) watch_door();
  }

  [[nodiscard]] std::int64_t most_open() const {
    return static_cast<std::int64_t>(state_.allowed.connections);
  }
  void watch_door() { watch(EPOLL_CTL_MOD, work_.door(), EPOLLIN | EPOLLONESHOT, &door_); }

  static clock::duration deadline_after(session::duration limit) {
    return clock::now().time_since_epoch() + limit;
  }

  // Does what can be done for it without waiting for it.
  void advance(client& one, std::optional<blocking_back_end>& back_end) {
    one.deadline.exchange(clock::duration::max());  // after what the last worker did: it has set it
    one.idle = false;
    if (one.late.exchange(false)) {
      if (one.ends_both) return drop(one);
      one.peer.timed_out();
    }
    if (one.lingering) return forget_input(one);
    for (bool readable = true;;) {
      switch (one.peer.next()) {
        case session::step::read:
          if (!readable) return wait_for_input(one);
          if (!read_some(one)) return drop(one);
          readable = false;
          break;
        case session::step::write:
          if (!write_some(one)) return drop(one);
          if (!one.peer.output().empty()) return wait(one, EPOLLOUT, state_.allowed.write);
          break;
        case session::step::fetch:
          back_end->ask(one.peer);
          break;
        case session::step::linger:
          shutdown(one.fd, SHUT_WR);
          one.lingering = true;
          return wait(one, EPOLLIN, state_.allowed.linger);
        case session::step::close:
          return drop(one);
      }
    }
  }

  void wait_for_input(client& one) {
    const bool idle = one.peer.idle();
    one.idle = idle;
    // The thread that stops the server sets `stopping` and then reads `idle`: one of both sees the
    // other's value.
    if (idle && state_.stopping) return drop(one);
    one.ends_both = false;
    hand_over(one, EPOLLIN, one.peer.patience());
  }

  void wait(client& one, std::uint32_t events, session::duration limit) {
    one.ends_both = true;
    hand_over(one, events, limit);
  }

  // To whichever worker gets its next event, which may be soon: not even its descriptor is looked
  // at once it has a deadline.
  void hand_over(client& one, std::uint32_t events, session::duration limit) {
    const int fd = one.fd;
    one.deadline = deadline_after(limit);
    watch(EPOLL_CTL_MOD, fd, events | EPOLLONESHOT, &one);
  }

  // Whether the connection goes on; so of the next.
  static bool read_some(client& one) {
    const coop::io::buffer room = one.peer.room();
    const ssize_t count = recv(one.fd, room.data(), room.size(), 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    one.peer.received(static_cast<std::size_t>(count));
    return true;
  }

  static bool write_some(client& one) {
    const bytes& out = one.peer.output();
    const ssize_t count = send(one.fd, out.data(), out.size(), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    one.peer.written(static_cast<std::size_t>(count));
    return true;
  }

  void forget_input(client& one) {
    char piece[16 * 1024];
    const ssize_t count = recv(one.fd, piece, sizeof piece, 0);
    if (count > 0) one.forgotten += static_cast<std::size_t>(count);
    const bool again = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (!again || one.forgotten > state_.allowed.linger_bytes) return drop(one);
    wait(one, EPOLLIN, state_.allowed.linger);
  }

  void drop(client& one) {
    const std::lock_guard lock(mutex_);  // those who look at all must not meet another's descriptor
    close(one.fd);
    clients_.erase(one.place);
    const bool was_full = state_.open-- == most_open();
    if (clients_.empty()) all_gone_.notify_one();
    if (was_full && !state_.stopping) watch_door();
  }

  problem& work_;
  server_state& state_;
  int epoll_;
  int over_;       // eventfd: the workers are to end
  char door_ = 0;  // its address is what its events carry
  std::mutex mutex_;
  std::condition_variable all_gone_;
  std::list<client> clients_;
};

void run(problem& work, region& timed) {
  server one(work);
  timed.begin();
  one.run(work.workers());
  timed.end();
  timed.kernel_threads(static_cast<std::uint64_t>(work.workers()) + 1);
}

const model<problem> registered{"event-loop/pool", &run};

}  // namespace
}  // namespace heddle::lab::http
