#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::lab::http {

/// Limits on the resources that a client may take from a server.
struct limits {
  std::size_t header_bytes = 8 * 1024;     // of a request line with its fields: else 431
  std::size_t target_bytes = 4 * 1024;     // else 414
  std::size_t body_bytes = 1024 * 1024;    // else 413
  std::size_t pipelined = 64;              // requests answered before the answers are written
  std::size_t connections = 10'000;        // more wait to be accepted
  std::chrono::milliseconds idle{60'000};  // between requests
  std::chrono::milliseconds header{
      10'000};                             // from the first byte to the end of the header: else 408
  std::chrono::milliseconds body{30'000};  // of a body: else 408
  std::chrono::milliseconds write{10'000};  // until the client has taken what is written
  std::chrono::milliseconds linger{1'000};  // what a client may still send that is being refused
  std::size_t linger_bytes = 256 * 1024;

  /// Interval at which models that sweep over all clients look for slow ones.
  [[nodiscard]] std::chrono::milliseconds sweep_interval() const {
    return std::min(linger, std::chrono::milliseconds(1000));
  }
};

/// State that the connections of one server, in whichever threads and processes they are, share
/// with the clients' process: it lies in shared memory.
struct server_state {
  // These first and in this order: goroutine/counts.go knows them.
  std::atomic<std::int64_t> requests{0};      // answered, the refused ones included
  std::atomic<std::int64_t> refused{0};       // by 4xx of the protocol, not of the resource
  std::atomic<std::int64_t> connections{0};   // accepted so far
  std::atomic<std::int64_t> open{0};          // connections
  std::atomic<std::int64_t> most_open{0};     // at a time
  std::atomic<std::int64_t> most_threads{0};  // of the kernel, of a server in another language

  std::atomic<bool> stopping{false};          // answers end their connections from now on
  std::atomic<pid_t> process{getpid()};       // which serves, and ends by SIGTERM
  std::atomic<std::int64_t> ended_cpu_ns{0};  // of its children that are gone
  std::atomic<std::int64_t> failed{0};        // of these
  std::atomic<bool> own_protocol{true};       // refuses by the statuses that a session would
  limits allowed;

  /// By one thread at a time.
  void opened() {
    ++connections;
    const std::int64_t now = ++open;
    if (now > most_open) most_open = now;
  }
};

}  // namespace heddle::lab::http
