#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::lab::http {

/// What a server lets a client have of it.
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

  /// How late a slow client may be found by those who look at all of them now and then.
  [[nodiscard]] std::chrono::milliseconds sweep_interval() const {
    return std::min(linger, std::chrono::milliseconds(1000));
  }
};

/// What the connections of one server share.
struct server_state {
  limits allowed;
  bool stopping = false;         // answers end their connections from now on
  std::int64_t requests = 0;     // answered, the refused ones included
  std::int64_t refused = 0;      // by 4xx of the protocol, not of the resource
  std::int64_t connections = 0;  // accepted so far
  std::int64_t open = 0;         // connections
};

}  // namespace heddle::lab::http
