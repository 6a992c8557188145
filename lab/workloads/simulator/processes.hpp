#pragma once

#include <deque>

#include "workloads/simulator/applications.hpp"
#include "workloads/simulator/workload.hpp"

namespace heddle::lab::simulating {

/// The blocking calls on a mechanism `Strand`, which has
///
/// - `Strand(process&)`: a flow of control that will run `process.main()`;
/// - `start()`, `resume()`: from the event loop: runs it until it suspends or ends;
/// - `suspend()`: from inside: back to the event loop, until it is resumed.
template <class Strand>
class process : network::waiter {
 public:
  process(problem& work, network& net, int connection, bool serves)
      : network::waiter{&resumed},
        work_(work),
        net_(net),
        connection_(connection),
        serves_(serves),
        strand_(*this) {}

  void start() { strand_.start(); }
  void main() {
    if (serves_) {
      server(*this, work_.given(), connection_);
    } else {
      client(*this, work_.given(), connection_);
    }
  }

  void sleep(nanoseconds length) {
    net_.resume_after(length, *this);
    suspend();
  }
  std::int64_t read(int socket) {
    std::int64_t bytes = net_.take(socket);
    if (bytes == 0) {
      net_.resume_with_data(socket, *this);
      suspend();
      bytes = net_.take(socket);
    }
    return bytes;
  }
  void send(int socket, std::int64_t bytes) { net_.send(socket, bytes); }
  void note(what happened, int connection, int request) {
    work_.happened().note(net_.now(), happened, connection, request);
  }

 private:
  static void resumed(network::waiter& self) { static_cast<process&>(self).strand_.resume(); }
  void suspend() {
    work_.blocked();
    strand_.suspend();
  }

  problem& work_;
  network& net_;
  int connection_;
  bool serves_;
  Strand strand_;
};

/// All applications, each on a strand of its own.
template <class Strand>
void run_processes(problem& work, region& timed) {
  network net(work.given().connections);
  std::deque<process<Strand>> all;
  for (int i = 0; i < work.given().connections; ++i) {
    all.emplace_back(work, net, i, false);
    all.emplace_back(work, net, i, true);
  }
  timed.begin();
  for (auto& each : all) each.start();
  net.run();
  timed.end();
}

}  // namespace heddle::lab::simulating
