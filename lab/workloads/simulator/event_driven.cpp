#include "workloads/simulator/event_driven.hpp"

namespace heddle::lab::simulating {

event_driven::event_driven(const scenario& given, history& happened)
    : scenario_(given), happened_(happened), net_(given.connections) {
  const auto connections = static_cast<std::size_t>(given.connections);
  clients_.reserve(connections);
  servers_.reserve(connections);
  for (int i = 0; i < given.connections; ++i) {
    clients_.push_back({{&resume_client}, this, i, 0, false, 0});
    servers_.push_back({{&resume_server}, this, i, 0, true, scenario::request_bytes});
  }
  for (std::size_t i = 0; i < connections; ++i) {
    think(clients_[i]);
    read_request(servers_[i]);
  }
}

void event_driven::resume_client(network::waiter& waiter) {
  auto& self = static_cast<application&>(waiter);
  if (self.reads) {
    self.owner->read_answer(self);
  } else {
    self.owner->thought_over(self);
  }
}

void event_driven::resume_server(network::waiter& waiter) {
  auto& self = static_cast<application&>(waiter);
  if (self.reads) {
    self.owner->read_request(self);
  } else {
    self.owner->service_over(self);
  }
}

void event_driven::think(application& self) {
  wait(self, scenario_.thought(self.connection, self.request));
}

void event_driven::thought_over(application& self) {
  happened_.note(net_.now(), what::asks, self.connection, self.request);
  net_.send(network::client(self.connection), scenario::request_bytes);
  self.reads = true;
  self.left = scenario_.answer_bytes(self.connection, self.request);
  read_answer(self);
}

void event_driven::read_answer(application& self) {
  if (!read(self, network::client(self.connection))) return;
  happened_.note(net_.now(), what::has_its_answer, self.connection, self.request);
  if (++self.request < scenario_.requests) think(self);
}

void event_driven::read_request(application& self) {
  if (!read(self, network::server(self.connection))) return;
  happened_.note(net_.now(), what::is_asked, self.connection, self.request);
  wait(self, scenario_.service(self.connection, self.request));
}

void event_driven::service_over(application& self) {
  happened_.note(net_.now(), what::answers, self.connection, self.request);
  net_.send(network::server(self.connection),
            scenario_.answer_bytes(self.connection, self.request));
  if (++self.request == scenario_.requests) return;
  self.reads = true;
  self.left = scenario::request_bytes;
  read_request(self);
}

void event_driven::wait(application& self, nanoseconds delay) {
  self.reads = false;
  ++waits_;
  net_.resume_after(delay, self);
}

// Whether all has been read; if not, it is resumed when there is more.
bool event_driven::read(application& self, int socket) {
  self.left -= net_.take(socket);
  if (self.left == 0) return true;
  ++waits_;
  net_.resume_with_data(socket, self);
  return false;
}

}  // namespace heddle::lab::simulating
