#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

#include "workloads/simulator/scenario.hpp"

namespace heddle::lab::simulating {

/// A discrete-event simulator: a link that all connections share, two sockets each, and timers.
/// An application that waits is resumed from inside run(), and returns to it as soon as it waits
/// again.
///
///     network net(connections);
///     net.resume_after(thought, client);      // client.resume(client) when it is over
///     net.send(network::client(0), bytes);    // arrives at network::server(0), in segments
///     net.run();                              // until nothing is left to happen
class network {
 public:
  /// An application to be resumed. The simulator knows no mechanism: mechanisms are compared here.
  struct waiter {
    void (*resume)(waiter& self);
  };

  explicit network(int connections) : sockets_(2 * static_cast<std::size_t>(connections)) {}

  /// The two ends of a connection.
  static constexpr int client(int connection) { return 2 * connection; }
  static constexpr int server(int connection) { return 2 * connection + 1; }

  [[nodiscard]] nanoseconds now() const { return now_; }

  void resume_after(nanoseconds delay, waiter& who) { schedule(now_ + delay, &who, 0, 0); }
  /// Resumes `who` as soon as there is data to be taken. A socket has one waiter; there must be no
  /// data yet.
  void resume_with_data(int socket, waiter& who) { state_of(socket).reader = &who; }

  /// Takes the bytes that have arrived and were not taken yet; returns 0 if there are none.
  std::int64_t take(int socket) { return std::exchange(state_of(socket).arrived, 0); }

  /// Sends to the other end. Does not wait: what the link cannot take at once is queued.
  void send(int socket, std::int64_t bytes);

  /// Until no timer and no segment is left.
  void run();

 private:
  struct socket_state {
    std::int64_t arrived = 0;
    waiter* reader = nullptr;
  };
  struct event {
    nanoseconds at;
    std::uint64_t order;
    waiter* timer;  // null: a segment arrives
    int socket;
    std::int64_t bytes;
    bool operator<(const event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void schedule(nanoseconds at, waiter* timer, int socket, std::int64_t bytes) {
    pending_.push({at, ++scheduled_, timer, socket, bytes});
  }
  socket_state& state_of(int socket) { return sockets_[static_cast<std::size_t>(socket)]; }

  nanoseconds now_ = 0;
  nanoseconds link_free_ = 0;
  std::uint64_t scheduled_ = 0;
  std::priority_queue<event> pending_;
  std::vector<socket_state> sockets_;
};

}  // namespace heddle::lab::simulating
