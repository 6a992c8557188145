#pragma once

#include <fcntl.h>  // the flags of open()
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "heddle/coop/ext/engine.hpp"
#include "heddle/coop/io/datagram.hpp"
#include "heddle/coop/io/file.hpp"
#include "heddle/coop/io/socket.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::io {

/// The mechanisms that read and write files while other strands run.
enum class mechanism : std::uint8_t {
  io_uring,   // Linux 5.6 and up, where neither seccomp nor the sysctl forbids it
  linux_aio,  // reads and writes of regular files; everything else by threads
  threads,    // blocking calls on threads of their own
};

/// The mechanisms that wait for sockets, signals and processes.
enum class socket_mechanism : std::uint8_t {
  epoll,
  io_uring,  // where files are read and written by it, too
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
  /// Not set: the environment's HEDDLE_SOCKETS ("epoll", "io_uring"), or else epoll.
  std::optional<socket_mechanism> sockets = {};
};

/// I/O for the strands of one scheduler, with files and sockets: reads, writes and the like are
/// awaitables, and while one strand waits for the disk or a peer the others run.
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
/// stands still while an operation on a regular file is in flight; one on a pipe or a socket does
/// not hold it.
class service {
 public:
  /// For a group's scheduler: by a strand of that group, or, while the groups do not run, by
  /// whoever made them; then io_uring does without what it does for one thread alone, and takes
  /// longer.
  ///
  /// Throws std::system_error if a mechanism that was asked for does not work here;
  /// std::invalid_argument for an unknown HEDDLE_IO or HEDDLE_SOCKETS; std::logic_error if `on` has
  /// a service.
  explicit service(scheduler& on, const service_options& options = {});
  /// With an engine of your own, for files and sockets; `chosen` is what choice() says.
  service(scheduler& on, std::unique_ptr<engine> engine, std::string chosen);
  /// Cancels what is in flight, and waits for it. Files may outlive it: they refuse everything.
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Opens a file as open(2) does, with O_CLOEXEC.
  detail::operation_awaitable<file> open(std::string path, int flags, mode_t mode = 0666) const;

  /// Takes over an open file descriptor.
  [[nodiscard]] file adopt(int fd, std::string name) const;

  /// Listens for connections to a TCP port or a Unix socket, whose file must not exist. A port can
  /// be listened at again at once after its last listener is gone (SO_REUSEADDR). Does not wait.
  ///
  ///     io::listener door = net.listen(io::endpoint::ip("::", 8080)).value();
  ///
  /// Throws std::system_error, as all of these do, if there is no epoll to be had.
  [[nodiscard]] result<listener> listen(const endpoint& at,
                                        const listen_options& options = {}) const;
  /// Connects to it. Errors: ECONNREFUSED (no socket listens), ETIMEDOUT (no answer for two
  /// minutes, as Linux comes; use within()), EHOSTUNREACH …
  [[nodiscard]] detail::operation_awaitable<socket> connect(const endpoint& to) const;
  /// Connects to a host by its name, as getaddrinfo(3) knows it, which is asked on a thread: tries
  /// its addresses in that order, and results in the first that answers, or the last one's error.
  /// A name without an address is ENXIO, or EAGAIN if the name server does not answer; the reason
  /// is in the error's text.
  [[nodiscard]] detail::operation_awaitable<socket> connect(std::string host,
                                                            std::uint16_t port) const;
  /// A socket for datagrams that receives at a UDP port or a Unix name, whose file must not exist.
  /// Port 0: the kernel chooses one, as a client wants it. Does not wait.
  ///
  ///     io::datagram_socket door = net.datagrams_at(io::endpoint::ip("::", 5353)).value();
  [[nodiscard]] result<datagram_socket> datagrams_at(const endpoint& at,
                                                     const datagram_options& options = {}) const;
  /// One that is connected: it receives from `to` alone. Does not wait, and asks nobody whether
  /// `to` is there. A Unix socket made so has no name, to which the peer could answer: use
  /// datagrams_at() and connect() for that.
  [[nodiscard]] result<datagram_socket> datagrams_to(const endpoint& to) const;
  /// Takes over a socket for datagrams.
  [[nodiscard]] datagram_socket adopt_datagrams(int fd, std::string name) const;
  /// Takes over a socket that listens: one that a parent process has opened, for example.
  [[nodiscard]] listener adopt_listener(int fd, std::string name) const;
  /// Takes over a connected stream socket.
  [[nodiscard]] socket adopt_socket(int fd, std::string name) const;

  /// The mechanism, and why not one before it: "threads (io_uring: Operation not permitted …)".
  [[nodiscard]] const std::string& choice() const noexcept;
  /// The same of sockets: "epoll".
  [[nodiscard]] const std::string& socket_choice() const noexcept;

  /// For those who write awaitables.
  [[nodiscard]] detail::core& core() const noexcept { return *core_; }
  /// The reactor in which the scheduler waits, for code that interrupts it from other threads.
  [[nodiscard]] coop::reactor& reactor() const noexcept;

 private:
  detail::core* core_;
};

}  // namespace heddle::coop::io
