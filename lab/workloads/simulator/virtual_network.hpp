#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "workloads/simulator/network.hpp"
#include "workloads/simulator/workload.hpp"

namespace heddle::lab::simulating {

/// The network on our scheduler's virtual time: no event loop of its own. Its timers are the
/// scheduler's; the link is a strand, link(), which sleeps until the next segment arrives.
class virtual_network {
 public:
  explicit virtual_network(problem& work)
      : work_(work), time_({.clock = coop::clock_policy::simulated}) {
    for (int i = 0; i < 2 * work.given().connections; ++i) {
      sockets_.push_back(std::make_unique<socket_state>());
    }
  }

  [[nodiscard]] coop::scheduler& time() { return time_; }
  [[nodiscard]] const scenario& given() const { return work_.given(); }
  [[nodiscard]] nanoseconds now() const { return time_.now().time_since_epoch().count(); }

  void note(what happened, int connection, int request) {
    work_.happened().note(now(), happened, connection, request);
  }
  void blocked() { work_.blocked(); }

  void send(int socket, std::int64_t bytes) {
    while (bytes > 0) {
      const std::int64_t sent = std::min(bytes, scenario::segment_bytes);
      link_free_ = std::max(link_free_, now()) + sent * scenario::ns_per_byte;
      on_link_.push_back({link_free_ + scenario::latency, socket ^ 1, sent});
      bytes -= sent;
    }
    wake_link();
  }

  /// All that has arrived; if that is nothing, wait for data(socket) first.
  std::int64_t take(int socket) { return std::exchange(state_of(socket).arrived, 0); }
  /// V'd once when something arrives after this call.
  coop::semaphore& data(int socket) {
    state_of(socket).waits = true;
    return state_of(socket).data;
  }

  /// An application has ended; with the last one the link does.
  void ended() {
    if (++ended_ == sockets_.size()) wake_link();
  }

  // ---- for the strand that is the link: while (more()) if (idle()) P sending(), else sleep until
  // arrival(), then arrive() ----

  [[nodiscard]] bool more() const { return ended_ < sockets_.size(); }
  [[nodiscard]] bool idle() const { return on_link_.empty(); }
  coop::semaphore& sending() {
    link_waits_ = true;
    return sending_;
  }
  [[nodiscard]] coop::time_point arrival() const {
    return coop::time_point(coop::duration(on_link_.front().at));
  }
  void arrive() {
    const segment first = on_link_.front();
    on_link_.pop_front();
    socket_state& socket = state_of(first.socket);
    socket.arrived += first.bytes;
    if (std::exchange(socket.waits, false)) socket.data.V();
  }

 private:
  struct segment {
    nanoseconds at;
    int socket;
    std::int64_t bytes;
  };
  struct socket_state {
    std::int64_t arrived = 0;
    bool waits = false;
    coop::semaphore data{0, "data"};
  };

  socket_state& state_of(int socket) { return *sockets_[static_cast<std::size_t>(socket)]; }
  void wake_link() {
    if (std::exchange(link_waits_, false)) sending_.V();
  }

  problem& work_;
  coop::scheduler time_;
  nanoseconds link_free_ = 0;
  bool link_waits_ = false;
  coop::semaphore sending_{0, "the link"};
  std::deque<segment> on_link_;  // in the order in which they arrive
  std::vector<std::unique_ptr<socket_state>> sockets_;
  std::size_t ended_ = 0;
};

}  // namespace heddle::lab::simulating
