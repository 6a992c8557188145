#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::coop::io {

/// The way in which a process has ended.
struct exit_status {
  int code = 0;    // what it passed to exit(), 0 … 255; 0 if a signal ended it
  int signal = 0;  // that ended it; 0 if none did
  [[nodiscard]] bool ok() const noexcept { return code == 0 && signal == 0; }
};

/// See process::spawn(). Descriptors are duplicated; -1: this program's.
struct spawn_options {
  int input = -1;
  int output = -1;
  int errors = -1;
};

/// A child process. Copies refer to the same one.
///
///     auto child = io::process::spawn(net, {"sort", "words"}, {.output = pipe}).value();
///     if (!await(child.wait()).value().ok()) …
///
/// Linux 5.3 and up. Nothing ends the process but itself, signal() and others; one that has ended
/// and was not waited for is a zombie until this program ends.
class process {
 public:
  struct state;

  /// See wait().
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] wait_awaitable
      : public coop::detail::awaitable<wait_awaitable> {
   public:
    explicit wait_awaitable(std::shared_ptr<state> its_state);
    bool ready();
    void park(coop::detail::strand_block & self) { ended_.park(self); }
    result<exit_status> get() const;

   private:
    std::shared_ptr<state> state_;
    detail::operation_awaitable<std::size_t> ended_;
  };

  /// Starts the program `command[0]`, which is looked for in PATH if it has no slash, with no
  /// signal blocked. Errors: ENOENT, EACCES, EAGAIN …; EINVAL for an empty command.
  [[nodiscard]] static result<process> spawn(const service& by,
                                             const std::vector<std::string>& command,
                                             const spawn_options& options = {});

  /// Waits until it has ended; any number of times, by any number of strands. When it suspends and
  /// ends, and what destruction means: detail::operation_awaitable.
  wait_awaitable wait() const { return wait_awaitable(state_); }

  /// Sends it a signal, if it has not been waited for: never to another process that has got its
  /// number. ESRCH once it has ended.
  result<void> signal(int number) const;

  [[nodiscard]] pid_t id() const noexcept;

  /// None: only to be assigned to.
  process() noexcept = default;

 private:
  explicit process(std::shared_ptr<state> its_state) noexcept : state_(std::move(its_state)) {}

  std::shared_ptr<state> state_;
};

}  // namespace heddle::coop::io
