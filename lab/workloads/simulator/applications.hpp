#pragma once

#include "workloads/simulator/network.hpp"

namespace heddle::lab::simulating {

/// The applications as they would be written for a real network. `Process` is the mechanism that
/// runs them:
///
/// - `sleep(ns)`, and `read(socket)`, which returns how many bytes there were, at least one: they
///   block;
/// - `send(socket, bytes)` and `note(what, connection, request)`, which do not.
template <class Process>
void client(Process& self, const scenario& given, int connection) {
  const int socket = network::client(connection);
  for (int request = 0; request < given.requests; ++request) {
    self.sleep(given.thought(connection, request));
    self.note(what::asks, connection, request);
    self.send(socket, scenario::request_bytes);
    for (std::int64_t left = given.answer_bytes(connection, request); left > 0;) {
      left -= self.read(socket);
    }
    self.note(what::has_its_answer, connection, request);
  }
}

template <class Process>
void server(Process& self, const scenario& given, int connection) {
  const int socket = network::server(connection);
  for (int request = 0; request < given.requests; ++request) {
    for (std::int64_t left = scenario::request_bytes; left > 0;) left -= self.read(socket);
    self.note(what::is_asked, connection, request);
    self.sleep(given.service(connection, request));
    self.note(what::answers, connection, request);
    self.send(socket, given.answer_bytes(connection, request));
  }
}

}  // namespace heddle::lab::simulating
