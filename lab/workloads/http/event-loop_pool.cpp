// I/O multiplexing with a thread pool, as servers have it: an event loop a thread, each with its
// own epoll(7), its own clients and its own connections to the back end. The main thread accepts,
// and deals the clients out in turn, as memcached's and Netty's do; a client stays with its loop,
// so no request is handed from thread to thread, and none waits for a lock.
#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <deque>
#include <future>
#include <vector>

#include "harness/throw_errno.hpp"
#include "workloads/http/event_loop.hpp"
#include "workloads/http/reception.hpp"

namespace heddle::lab::http {
namespace {

class server {
 public:
  explicit server(problem& work) : state_(work.server()), reception_(work.door(), {SIGTERM}) {
    for (int i = 0; i < work.loops(); ++i) {
      loops_.emplace_back(work, event_loop::clients_from::adopted,
                          work.back_ends_of(i, work.loops()));
    }
  }

  void run() {
    std::vector<std::future<void>> pool;
    for (event_loop& each : loops_) {
      pool.push_back(std::async(std::launch::async, [&each] { each.run(); }));
    }
    {
      const pool_end ends{loops_};
      deal_out_clients();
    }
    for (std::future<void>& each : pool) each.get();  // rethrows what has ended a loop
  }
  [[nodiscard]] std::size_t loops() const { return loops_.size(); }

 private:
  // Tells the loops to end, also where something is thrown: who waits for them would wait for ever.
  struct pool_end {
    std::deque<event_loop>& loops;
    ~pool_end() {
      for (event_loop& each : loops) each.stop();
    }
  };

  void deal_out_clients() {
    for (std::size_t next = 0; !state_.stopping;) {
      const bool room = state_.open < static_cast<std::int64_t>(state_.allowed.connections);
      const auto come = reception_.next(room, std::chrono::milliseconds(room ? 60'000 : 10));
      if (come.signal == SIGTERM) state_.stopping = true;
      if (come.client < 0) continue;
      if (fcntl(come.client, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(2)");
      state_.opened();
      loops_[next++ % loops_.size()].adopt(come.client);
    }
  }

  server_state& state_;
  reception reception_;
  std::deque<event_loop> loops_;  // which stay where they are
};

void run(problem& work, region& timed) {
  server one(work);
  timed.begin();
  one.run();
  timed.end();
  timed.kernel_threads(one.loops() + 1);
}

const model<problem> registered{"event-loop/pool", &run};

}  // namespace
}  // namespace heddle::lab::http
