#pragma once

#include <optional>

#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop::io {

namespace detail {
struct file_state;
struct operation;
}  // namespace detail

/// Receives an engine's completed operations.
class completions {
 public:
  /// `outcome` is what the system call would have returned, or -errno. The kernel uses neither the
  /// operation's memory nor its file descriptor any more.
  virtual void complete(detail::operation& over, long outcome) noexcept = 0;

 protected:
  ~completions() = default;
};

/// Passes operations to the kernel and their outcomes back. All calls come from the scheduler's
/// thread. An extension point: derive from it to write an engine of your own.
class engine {
 public:
  virtual ~engine() = default;

  /// Takes the operation; returns false if there is no room now: it is offered again after
  /// collect(). The kernel may see it only at the next collect().
  [[nodiscard("it was not taken")]] virtual bool start(detail::operation& wanted) = 0;

  /// Asks to end an operation that was taken before its time. It completes in any case: with
  /// -ECANCELED, or as if nothing had been asked.
  virtual void cancel(detail::operation& unwanted) = 0;

  /// Hands what was started to the kernel, waits until something is over or `limit` has passed
  /// (zero: not at all; none: for as long as it takes), and tells `to` of all that is over. May
  /// return early.
  virtual void collect(completions& to, std::optional<duration> limit) = 0;

  /// The descriptor of a socket is about to be closed, and no operation on it is in flight: ends
  /// what else the kernel does with it.
  virtual void forget(detail::file_state& /*closing*/, int /*fd*/) noexcept {}

  /// From any thread: makes a collect() that waits, or else the next one, return early.
  virtual void interrupt() noexcept = 0;

  /// A file descriptor that, from now on, is readable when collect() would not have to wait: for
  /// those who wait for more than this engine.
  [[nodiscard]] virtual int fd() noexcept = 0;
};

}  // namespace heddle::coop::io
