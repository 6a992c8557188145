#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {

/// One thread's loop around epoll(7), a state machine a connection: nothing between the system
/// calls and the session. Level-triggered, one read an event: the cheapest there is for requests
/// that come whole.
///
/// Questions go to the back end over connections that the loop keeps, and which it never waits for:
/// those of a round of events that go over the same connection go out together.
class event_loop {
 public:
  /// How the loop comes by its clients, and to its end.
  enum class clients_from : std::uint8_t {
    door,    ///< accepts them itself, until SIGTERM, which is to be blocked
    adopted  ///< is given them by adopt(), until stop()
  };

  /// With so many connections to the back end, if the workload has one. Throws std::system_error.
  event_loop(problem& work, clients_from where, int back_ends);
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Until it is to end and has no clients any more. Throws std::exception where the kernel or the
  /// back end fails.
  void run();

  /// Serves the client behind `fd` from now on, and owns it; the client is counted as opened. From
  /// any thread, as stop().
  void adopt(int fd);
  /// Ends once all clients are gone, of which the idle ones are sent away.
  void stop();

 private:
  using clock = std::chrono::steady_clock;

  // The file that an event of epoll concerns.
  struct source {
    enum class kind : std::uint8_t { door, stop, inbox, back_end, client } is;
    int fd;
  };
  struct back_end;
  struct client;

  void watch(source& added, std::uint32_t events);
  void rewatch(source& known, std::uint32_t events);
  void handle(source& from, std::uint32_t events);
  void accept_all();
  void end_accepting();
  void take_stop_signal();
  void empty_inbox();
  void signal_inbox();
  client& add_client(int fd);
  void begin_stopping();
  void advance(client& one);
  void want(client& one, std::uint32_t events, session::duration limit);
  bool read_some(client& one);
  bool write_some(client& one);
  void forget_input(client& one);
  void drop(client& one);
  void sweep();
  std::unique_ptr<back_end> connect_back_end();
  void ask_back_end(client& one);
  void write_back_ends();
  void hear_back_end(back_end& from, std::uint32_t events);

  problem& work_;
  server_state& state_;
  int epoll_;
  source door_{source::kind::door, -1};
  source stop_{source::kind::stop, -1};
  source inbox_{source::kind::inbox, -1};  // an eventfd
  bool door_watched_ = false;
  bool stopping_ = false;
  clock::time_point now_ = clock::now();
  std::unordered_map<client*, std::unique_ptr<client>> clients_;
  std::vector<std::unique_ptr<client>> dead_;
  std::vector<std::unique_ptr<back_end>> back_ends_;
  std::vector<back_end*> to_write_;  // those with questions of this round
  std::size_t served_ = 0;           // clients so far

  std::mutex mutex_;          // of what follows
  std::vector<int> adopted_;  // and not taken yet
  bool told_to_stop_ = false;
};

}  // namespace heddle::lab::http
