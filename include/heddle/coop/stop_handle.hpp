#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace heddle::coop {

class scheduler;

namespace detail {

/// From stop_handles to their scheduler, which may be gone.
struct stop_line;

/// The scheduler's end of it. Its end is out of line: no locked instruction is to be in the code
/// that runs strands.
struct stop_line_end {
  std::shared_ptr<stop_line> line;  // once there is a stop_handle

  stop_line_end() noexcept = default;
  ~stop_line_end();
  stop_line_end(const stop_line_end&) = delete;
  stop_line_end& operator=(const stop_line_end&) = delete;
};

}  // namespace detail

/// Asks a strand to end, from any thread: what strand_ref::cancel() does on the strand's own. Made
/// by strand_ref::stopper(). It can be copied, and may outlive the strand and the scheduler.
///
///     std::thread other([stop = worker.stopper()] { stop.request_stop(); });
class stop_handle {
 public:
  /// Of no strand.
  stop_handle() noexcept = default;

  /// The strand is cancelled soon, on its own thread: when its scheduler has nothing else to run,
  /// or after some tens of turns. Nothing if it has ended or moved to another group by then. Never
  /// waits for the scheduler; allocates a message.
  void request_stop() const;

 private:
  friend scheduler;
  stop_handle(std::shared_ptr<detail::stop_line> line, std::uint64_t number) noexcept
      : line_(std::move(line)), number_(number) {}

  std::shared_ptr<detail::stop_line> line_;
  std::uint64_t number_ = 0;  // the strand's, in its scheduler
};

}  // namespace heddle::coop
