#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "heddle/coop/io/engine.hpp"
#include "heddle/coop/io/file.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::io {

/// How files are read and written while other strands run.
enum class mechanism : std::uint8_t {
  io_uring,   // Linux 5.6 and up, where neither seccomp nor the sysctl forbids it
  linux_aio,  // reads and writes of regular files; everything else by threads
  threads,    // blocking calls on threads of their own
};

struct service_options {
  /// Not set: the environment's HEDDLE_IO ("io_uring", "linux_aio", "threads"), or else the first
  /// of them that works here.
  std::optional<mechanism> only = {};
  /// Operations that the kernel is handed at once; more wait their turn.
  unsigned depth = 256;
  /// Threads, at most, for what ends soon. What need not end (a read of an empty pipe) has one to
  /// itself for as long.
  unsigned threads = 8;
};

/// File I/O for the strands of one scheduler: reads, writes and the like are awaitables, and while
/// one strand waits for the disk the others run.
///
///     scheduler s;
///     io::service files(s);
///     s.spawn([&]() -> task<> {
///       io::file log = (co_await files.open("log", O_WRONLY | O_CREAT)).value();
///       (co_await log.write_all(io::buffer::copy_of("hello\n"), 0)).value();
///       (co_await log.close()).value();
///     });
///     s.run();
///
/// Operations in flight are no deadlock. In virtual time files are infinitely fast: the clock
/// stands still while an operation on a regular file is in flight; one on a pipe does not hold it.
class service {
 public:
  /// Throws std::system_error if the mechanism that was asked for does not work here;
  /// std::invalid_argument for an unknown HEDDLE_IO; std::logic_error if `on` has a service.
  explicit service(scheduler& on, const service_options& options = {});
  /// With an engine of your own; `chosen` is what choice() says.
  service(scheduler& on, std::unique_ptr<engine> engine, std::string chosen);
  /// Cancels what is in flight, and waits for it. Files may outlive it: they refuse everything.
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Opens a file as open(2) does, with O_CLOEXEC.
  detail::operation_awaitable<file> open(std::string path, int flags, mode_t mode = 0666) const;

  /// Takes over an open file descriptor.
  [[nodiscard]] file adopt(int fd, std::string name) const;

  /// The mechanism, and why not one before it: "threads (io_uring: Operation not permitted …)".
  [[nodiscard]] const std::string& choice() const noexcept;

 private:
  detail::core* core_;
};

}  // namespace heddle::coop::io
