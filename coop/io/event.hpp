#pragma once

#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop::io::detail {

/// A file descriptor that is readable once raise() was called.
class event {
 public:
  event();  // throws std::system_error
  ~event();
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }
  void raise() const noexcept;
  void clear() const noexcept;
  /// Waits until it is raised, `limit` has passed, or a signal has come.
  void wait(std::optional<duration> limit) const noexcept;

 private:
  int fd_;
};

}  // namespace heddle::coop::io::detail
