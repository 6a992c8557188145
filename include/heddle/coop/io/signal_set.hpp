#pragma once

#include <signal.h>
#include <sys/types.h>

#include <initializer_list>
#include <utility>

#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::coop::io {

/// A signal that has come.
struct signal_event {
  int number = 0;    // SIGTERM …
  pid_t sender = 0;  // 0: the kernel
  uid_t user = 0;    // of the sender
  int value = 0;     // with sigqueue(3)
};

/// Signals as something to wait for, instead of handlers: signalfd(2).
///
///     io::signal_set stop(net, {SIGTERM, SIGINT});
///     s.spawn([&]() -> task<> { co_await stop.next(); co_await door.close(); });
///
/// While it lives, they are blocked in this thread and those that it starts: they neither interrupt
/// nor end the program. Make it before other threads are started, as the kernel gives a signal of
/// the process to any thread that does not block it. The threads of parallel::groups start when
/// those are made, which is before there can be a service for one: block the signals before that,
/// with pthread_sigmask(3).
///
/// Signals of one number that come before the first of them is read are one, as always with Unix.
class signal_set {
 public:
  /// See next().
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] next_awaitable
      : public coop::detail::awaitable<next_awaitable> {
   public:
    explicit next_awaitable(const detail::file_ref& from);
    bool ready() { return read_.ready(); }
    void park(coop::detail::strand_block & self) { read_.park(self); }
    result<signal_event> get() const;

   private:
    buffer into_;
    detail::operation_awaitable<std::size_t> read_;
  };

  /// Throws std::system_error; std::invalid_argument for a number that is no signal's.
  signal_set(const service& by, std::initializer_list<int> signals);
  /// They are unblocked, if they were not blocked before: one that has come and was not waited for
  /// does what it would have done.
  ~signal_set();
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;

  /// Waits for the next one. When it suspends and ends, and what destruction means:
  /// detail::operation_awaitable.
  next_awaitable next() const { return next_awaitable(state_); }

 private:
  sigset_t before_;
  detail::file_ref state_;
};

}  // namespace heddle::coop::io
