#include "workloads/simulator/network.hpp"

#include <algorithm>

namespace heddle::lab::simulating {

void network::send(int socket, std::int64_t bytes) {
  const int peer = socket ^ 1;
  while (bytes > 0) {
    const std::int64_t segment = std::min(bytes, scenario::segment_bytes);
    link_free_ = std::max(link_free_, now_) + segment * scenario::ns_per_byte;
    schedule(link_free_ + scenario::latency, nullptr, peer, segment);
    bytes -= segment;
  }
}

void network::run() {
  while (!pending_.empty()) {
    const event next = pending_.top();
    pending_.pop();
    now_ = next.at;
    waiter* who = next.timer;
    if (who == nullptr) {
      socket_state& socket = state_of(next.socket);
      socket.arrived += next.bytes;
      who = std::exchange(socket.reader, nullptr);
    }
    if (who != nullptr) who->resume(*who);
  }
}

}  // namespace heddle::lab::simulating
