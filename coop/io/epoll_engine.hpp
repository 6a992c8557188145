#pragma once

#include <sys/epoll.h>

#include <optional>

#include "heddle/coop/ext/engine.hpp"
#include "polled.hpp"

namespace heddle::coop::io::detail {

/// Sockets and the like by epoll(7), edge-triggered: each descriptor is registered once, when a
/// call on it first would have to wait, for both directions. An operation that waits makes its call
/// when an event has come; what events have said is kept in polled_state::may.
///
/// A reactor of two halves: files have an engine of their own, whose descriptor is waited for, too.
class epoll_engine final : public engine {
 public:
  /// `files_fd`: of the files' engine. Throws std::system_error.
  explicit epoll_engine(int files_fd);
  ~epoll_engine() override;

  bool start(operation& wanted) override;
  void cancel(operation& unwanted) override;
  void collect(completions& to, std::optional<duration> limit) override;
  /// Not this one's: the files' engine is interrupted, and its descriptor ends the wait.
  void interrupt() noexcept override {}
  [[nodiscard]] int fd() noexcept override { return fd_; }
  /// The socket's descriptor is about to be closed. (Another process, a child for example, may have
  /// a copy of it: then closing it would not end its events.)
  void forget(file_state& closing, int fd) noexcept override;

  /// Whether the last collect() found the files' descriptor readable.
  [[nodiscard]] bool rang() const noexcept { return rang_; }

 private:
  bool watch(polled_state& socket, int fd) noexcept;
  void begin(operation& wanted, completions& to);
  void run(polled_state& socket, direction way, completions& to);

  int fd_;
  bool rang_ = false;
  operation_queue due_;        // might not have to wait
  operation_queue cancelled_;  // to be told
  // The events of one collect(): not on the stack, which may be a fiber's with a single page.
  epoll_event events_[128];
};

}  // namespace heddle::coop::io::detail
