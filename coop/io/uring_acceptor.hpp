#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <deque>

#include "heddle/coop/ext/engine.hpp"
#include "operation_queue.hpp"
#include "polled.hpp"

namespace heddle::coop::io::detail {

/// A free entry of the ring's queue of requests; a full queue is handed to the kernel first. Null
/// where the kernel takes nothing now.
[[nodiscard]] inline io_uring_sqe* free_entry(io_uring& ring) noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring);
  if (entry == nullptr) {
    io_uring_submit(&ring);
    entry = io_uring_get_sqe(&ring);
  }
  return entry;
}

/// The connections of one listener, which a single request of io_uring accepts one after the other
/// (IORING_ACCEPT_MULTISHOT), and the operations that wait for them.
///
/// The request begins with the first operation that waits, and goes on when none does, until some
/// connections are there that no operation has taken; so it is for listeners that no other process
/// has. It takes connections that come at once together, as far as the ring has room for
/// completions.
///
/// Invariant: no operation waits while a connection is there, except between two calls of serve().
class uring_acceptor {
 public:
  explicit uring_acceptor(io_uring& ring, polled_state& socket) noexcept
      : ring_(ring), socket_(&socket) {}
  ~uring_acceptor();
  uring_acceptor(const uring_acceptor&) = delete;
  uring_acceptor& operator=(const uring_acceptor&) = delete;

  /// Whether a completion is one of an acceptor's request: which.
  [[nodiscard]] static uring_acceptor* of(std::uint64_t user_data) noexcept {
    return (user_data & mark) == 0 ? nullptr : reinterpret_cast<uring_acceptor*>(user_data & ~mark);
  }
  [[nodiscard]] bool is_of(const polled_state& socket) const noexcept { return socket_ == &socket; }

  void wait(operation& wanted) noexcept { waiting_.push(wanted); }
  /// Returns whether it was there.
  bool remove(operation& unwanted) noexcept { return waiting_.remove(unwanted); }

  /// Gives what is there to those who wait, and begins the request if they need it. Returns whether
  /// to come again before waiting: somebody has got something, or the request could not begin.
  bool serve(completions& to);
  /// A completion of the request.
  void complete(completions& to, const io_uring_cqe& what);

  /// The listener is about to be closed: ends the request, and closes the connections that no
  /// operation has taken. No operation waits.
  void abandon() noexcept;
  /// Abandoned, and the kernel has said its last word.
  [[nodiscard]] bool is_over() const noexcept { return socket_ == nullptr && !requested_; }

 private:
  // No other user_data of the ring has this bit.
  static constexpr std::uint64_t mark = 2;
  // Most connections that no operation waits for; further ones are left to the kernel's queue.
  static constexpr std::size_t most_ahead = 64;

  [[nodiscard]] std::uint64_t user_data() const noexcept {
    return reinterpret_cast<std::uint64_t>(this) | mark;
  }
  void request() noexcept;
  void pause() noexcept;
  void close_all() noexcept;

  io_uring& ring_;
  polled_state* socket_;  // null: abandoned
  operation_queue waiting_;
  std::deque<int> come_;
  bool requested_ = false;  // and not over yet
  bool pausing_ = false;    // asked to be over
};

}  // namespace heddle::coop::io::detail
