#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "heddle/coop/await.hpp"  // for users: await() and within()
#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/buffer.hpp"
#include "heddle/coop/io/endpoint.hpp"

namespace heddle::coop::io {

/// Which direction of a connection shutdown() ends.
enum class ending : std::uint8_t {
  reading,  // reads have come to the end of what the peer sends
  writing,  // the peer's reads have, once it has what was written: a half-close
  both,
};

/// A connected stream socket, TCP or Unix: made by listener::accept(), service::connect() or
/// service::adopt_socket(). Copies refer to the same one; it is closed by close(), or with the last
/// copy and the last operation.
///
///     const auto count = await(peer.read(page));            // 0: the peer has ended its direction
///     await(peer.write_all(io::buffer::copy_of("hello"))).value();
///
/// One strand may read while another writes. Several that read, or write, take turns by whole
/// calls.
///
/// When each wait suspends and ends, and what destruction means: detail::operation_awaitable; with
/// a limit in time: within(). Results: bytes moved, or the kernel's error: ECONNRESET (the peer
/// has thrown the connection away), EPIPE (a write to a peer that has, or that reads no more;
/// SIGPIPE is never raised), ETIMEDOUT (the network has lost the peer), ECANCELED (close() by
/// another strand), EBADF after close(). EINTR is never one.
class socket {
 public:
  using transfer = detail::operation_awaitable<std::size_t>;
  using done = detail::operation_awaitable<void>;

  /// Reads the bytes that have come, at least one and at most as many as `into` holds; 0 once the
  /// peer has ended.
  transfer read(const buffer& into) const {
    return transfer(new detail::operation(detail::verb::receive, state_, into));
  }
  /// Reads until `into` is full: fewer bytes than that came before the peer ended. Beside an
  /// error, reached() is what was read before it; within() a limit, that error may be ETIME.
  transfer read_all(const buffer& into) const {
    auto* const wanted = new detail::operation(detail::verb::receive, state_, into);
    wanted->whole = true;
    return transfer(wanted);
  }
  /// Writes some of `from`: what there is room for in the kernel, at least one byte.
  transfer write(const buffer& from) const {
    return transfer(new detail::operation(detail::verb::send, state_, from));
  }
  /// Writes until the kernel has all of `from`, or an error: reached() is what it took before. The
  /// same of ETIME.
  transfer write_all(const buffer& from) const {
    auto* const wanted = new detail::operation(detail::verb::send, state_, from);
    wanted->whole = true;
    return transfer(wanted);
  }
  /// The same of several buffers, one behind the other, by one system call as a rule (a gathering
  /// write, sendmsg(2)). At most 1024, IOV_MAX; otherwise EMSGSIZE. Throws std::bad_alloc.
  transfer write_all(std::span<const buffer> from) const;

  /// Ends one direction of the connection, or both. Does not wait. Reads that wait end with 0, and
  /// writes with EPIPE.
  result<void> shutdown(ending which) const;

  /// Closes it. What others wait for on it ends with ECANCELED, and that is waited for. A wait that
  /// was begun can neither be cancelled nor limited.
  done close() const { return done(new detail::operation(detail::verb::close, state_)); }

  /// Whether TCP sends at once what was written (TCP_NODELAY), which it does unless this says no.
  result<void> set_no_delay(bool on) const;
  /// setsockopt(2), of any option whose value is an int.
  result<void> set_option(int level, int option, int value) const;

  /// The addresses of the two ends.
  [[nodiscard]] result<endpoint> local() const;
  [[nodiscard]] result<endpoint> peer() const;

  /// Its file descriptor; -1 once it is closed.
  [[nodiscard]] int fd() const noexcept { return state_->fd; }
  /// The name of the endpoint that it was connected to, or of the listener that accepted it.
  [[nodiscard]] std::string_view name() const noexcept { return state_->name; }

  /// None: only to be assigned to.
  socket() noexcept = default;
  explicit socket(detail::file_ref state) noexcept : state_(std::move(state)) {}

 private:
  detail::file_ref state_;
};

/// See service::listen().
struct listen_options {
  /// Connections that wait to be accepted; the kernel has a limit of its own (net.core.somaxconn).
  int backlog = 4096;
  /// Several listeners on one port, among which the kernel spreads the connections (SO_REUSEPORT).
  bool reuse_port = false;
};

/// A socket that accepts connections, made by service::listen(). Copies refer to the same one.
///
///     for (;;) {
///       io::socket peer = (co_await door.accept()).value();
///       s.spawn(serve(peer));
///     }
///
/// With no descriptor left (EMFILE, ENFILE) or no memory in the kernel, accept() goes on waiting,
/// and tries again when this service has closed one, and every 10 ms. A connection that was gone
/// before it was accepted is passed over.
///
/// By io_uring, some connections may have been accepted, and have a descriptor, before anybody
/// waits for them: 64, or what comes at once, at most 2 × service_options::depth. They are given to
/// the next accept(), and closed with the listener. That does not hold for adopt_listener(), as
/// another process may accept there, too.
class listener {
 public:
  using accepting = detail::operation_awaitable<socket>;

  /// Waits for a connection. Several strands may.
  accepting accept() const;

  /// Where it listens: the port, if the kernel chose it.
  [[nodiscard]] result<endpoint> address() const;
  /// Number of times that an accept() had to wait for a descriptor to become free.
  [[nodiscard]] std::uint64_t shortages() const noexcept;

  /// Like socket::close(). Connections that were not accepted are reset.
  detail::operation_awaitable<void> close() const {
    return detail::operation_awaitable<void>(new detail::operation(detail::verb::close, state_));
  }

  [[nodiscard]] int fd() const noexcept { return state_->fd; }
  [[nodiscard]] std::string_view name() const noexcept { return state_->name; }

  /// None: only to be assigned to.
  listener() noexcept = default;
  explicit listener(detail::file_ref state) noexcept : state_(std::move(state)) {}

 private:
  detail::file_ref state_;
};

}  // namespace heddle::coop::io
