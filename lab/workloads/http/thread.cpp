// A kernel thread a connection, which waits in the kernel for its client and for the back end, each
// over a connection of its own.
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "workloads/http/blocking.hpp"
#include "workloads/http/reception.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {
namespace {

class server {
 public:
  explicit server(problem& work)
      : work_(work), state_(work.server()), reception_(work.door(), {SIGTERM}) {}

  void run() {
    while (!state_.stopping) {
      const bool room = state_.open < static_cast<std::int64_t>(state_.allowed.connections);
      const auto come = reception_.next(room, std::chrono::milliseconds(room ? 60'000 : 10));
      if (come.client >= 0) begin(come.client);
      if (come.signal == SIGTERM) stop();
      join_ended();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return served_.empty(); });
    lock.unlock();
    join_ended();
  }

 private:
  struct served {
    std::optional<blocking_client> client;  // until it has ended
    std::thread thread;
  };
  using place = std::list<served>::iterator;

  void begin(int fd) {
    const std::lock_guard lock(mutex_);
    served_.emplace_front();
    const place one = served_.begin();
    one->client.emplace(fd, state_, work_.back_end());
    try {
      one->thread = std::thread([this, one] { serve(one); });
    } catch (const std::system_error&) {
      served_.pop_front();  // no further thread is to be had: the client sees its connection end
      return;
    }
    state_.opened();
  }

  void serve(place one) {
    one->client->serve();
    const std::lock_guard lock(mutex_);  // so that stop() does not meet another's descriptor
    one->client.reset();
    --state_.open;
    ended_.splice(ended_.begin(), served_, one);
    changed_.notify_one();
  }

  void stop() {
    state_.stopping = true;
    const std::lock_guard lock(mutex_);
    for (const served& each : served_) each.client->stop_waiting();
  }

  void join_ended() {
    std::list<served> ended;
    {
      const std::lock_guard lock(mutex_);
      ended.swap(ended_);
    }
    for (served& each : ended) each.thread.join();
  }

  problem& work_;
  server_state& state_;
  reception reception_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<served> served_;
  std::list<served> ended_;  // to be joined
};

void run(problem& work, region& timed) {
  // A client's, and its connection to the back end.
  allow_descriptors((work.back_end() ? 2 : 1) * work.connections());
  server one(work);
  timed.begin();
  one.run();
  timed.end();
  timed.kernel_threads(static_cast<std::uint64_t>(work.server().most_open) + 1);
}

const model<problem> registered{"thread", &run};

}  // namespace
}  // namespace heddle::lab::http
