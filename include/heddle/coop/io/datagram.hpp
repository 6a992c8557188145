#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/buffer.hpp"
#include "heddle/coop/io/endpoint.hpp"

namespace heddle::coop::io {

/// A datagram that was received: what is in the buffer, and who has sent it.
struct datagram {
  std::size_t bytes = 0;   // of it in the buffer; none is a datagram, too, and no end of anything
  std::size_t length = 0;  // that it was sent with
  endpoint from = {};      // as the kernel says: a Unix socket that is not bound has no name

  /// Whether it was longer than the buffer: the rest is lost.
  [[nodiscard]] bool truncated() const noexcept { return length > bytes; }

  /// For the awaitable.
  [[nodiscard]] static datagram of(const detail::operation& over) noexcept;
};

/// A socket for datagrams, UDP over IPv4 or IPv6 or Unix, made by service::datagrams_at(),
/// service::datagrams_to() or service::adopt_datagrams(). Copies refer to the same one; it is
/// closed by close(), or with the last copy and the last operation.
///
///     const auto server = io::endpoint::ip("192.0.2.53", 53);
///     const io::datagram_socket own = net.datagrams_at(io::endpoint::ip("0.0.0.0", 0)).value();
///     (co_await own.send_to(query, server)).value();
///     const io::buffer page(1232);
///     const auto answer = co_await within(2s, own.receive(page));   // nothing: send it again
///     if (answer && *answer) use(page.text(answer->reached().bytes), answer->reached().from);
///
/// Any strands may receive and send at the same time; several that wait take turns, a datagram
/// each. A datagram is received or sent whole, by one system call; there is no half of one after
/// an error.
///
/// When each wait suspends and ends, and what destruction means: detail::operation_awaitable; with
/// a limit in time: within(). A receive that was cancelled, or is late, has taken no datagram.
/// Results, or the kernel's error: ECONNREFUSED (on a connected socket: no socket received an
/// earlier datagram; reported once, by the next receive or send), EMSGSIZE (too long to be sent),
/// ENETUNREACH, EHOSTUNREACH, EACCES (broadcast without SO_BROADCAST), ENOENT and ECONNREFUSED (no
/// Unix socket there), EDESTADDRREQ (send() on one that is not connected), ECANCELED (close() by
/// another strand), EBADF after close(). EINTR is never one.
class datagram_socket {
 public:
  using receiving = detail::operation_awaitable<datagram>;
  using done = detail::operation_awaitable<void>;

  /// Waits for a datagram, from whomever, of one that is connected: from its peer.
  receiving receive(const buffer& into) const;

  /// Sends all of `what` as one datagram. Waits while the kernel has no room for it; where what has
  /// no room is the queue of a Unix socket, it tries again every 10 ms.
  done send_to(const buffer& what, const endpoint& to) const;
  /// The same to the peer of one that is connected; a full queue of a Unix socket is waited for.
  done send(const buffer& what) const;

  /// From now on it receives from `to` alone, which is send()'s peer. Does not wait, and asks
  /// nobody whether `to` is there. Another call: another peer.
  result<void> connect(const endpoint& to) const;

  /// Closes it. What others wait for on it ends with ECANCELED, and that is waited for. A wait that
  /// was begun can neither be cancelled nor limited.
  done close() const { return done(new detail::operation(detail::verb::close, state_)); }

  /// setsockopt(2), of any option whose value is an int: SO_BROADCAST, SO_RCVBUF …
  result<void> set_option(int level, int option, int value) const;

  /// Where it receives: the port, if the kernel chose it.
  [[nodiscard]] result<endpoint> local() const;
  /// The peer that it is connected to; ENOTCONN if it is not connected.
  [[nodiscard]] result<endpoint> peer() const;

  /// Its file descriptor; -1 once it is closed.
  [[nodiscard]] int fd() const noexcept { return state_->fd; }
  [[nodiscard]] std::string_view name() const noexcept { return state_->name; }

  /// None: only to be assigned to.
  datagram_socket() noexcept = default;
  explicit datagram_socket(detail::file_ref state) noexcept : state_(std::move(state)) {}

 private:
  done sending(const buffer& what, const endpoint* to) const;

  detail::file_ref state_;
};

/// See service::datagrams_at().
struct datagram_options {
  /// Several sockets at one port, among which the kernel spreads the senders (SO_REUSEPORT).
  bool reuse_port = false;
};

}  // namespace heddle::coop::io
