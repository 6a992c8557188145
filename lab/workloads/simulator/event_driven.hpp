#pragma once

#include <vector>

#include "workloads/simulator/network.hpp"

namespace heddle::lab::simulating {

/// The applications as a discrete-event simulator wants them: each a state machine that is called
/// when what it waits for has come, and returns at once.
class event_driven {
 public:
  event_driven(const scenario& given, history& happened);

  void run() { net_.run(); }
  /// Number of times that an application waited.
  [[nodiscard]] std::int64_t waits() const { return waits_; }

 private:
  struct application : network::waiter {
    event_driven* owner;
    int connection;
    int request;
    bool reads;         // or its timer is running
    std::int64_t left;  // of what it reads
  };

  static void resume_client(network::waiter& self);
  static void resume_server(network::waiter& self);

  void think(application& self);
  void thought_over(application& self);
  void read_answer(application& self);
  void read_request(application& self);
  void service_over(application& self);
  void wait(application& self, nanoseconds delay);
  bool read(application& self, int socket);

  const scenario scenario_;
  history& happened_;
  network net_;
  std::int64_t waits_ = 0;
  std::vector<application> clients_;
  std::vector<application> servers_;
};

}  // namespace heddle::lab::simulating
