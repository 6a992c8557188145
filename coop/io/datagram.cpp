#include "heddle/coop/io/datagram.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "core.hpp"
#include "polled.hpp"
#include "socket_calls.hpp"

namespace heddle::coop::io {

using detail::operation;
using detail::verb;

datagram datagram::of(const operation& over) noexcept {
  if (over.error != 0) return {};
  const msghdr& header = over.around->header;
  return {std::min(over.done, over.size), over.done,
          endpoint(static_cast<const sockaddr*>(header.msg_name), header.msg_namelen)};
}

datagram_socket::receiving datagram_socket::receive(const buffer& into) const {
  auto* const wanted = new operation(verb::receive_from, state_, into);
  receiving awaited(wanted);
  wanted->around.reset(new detail::envelope(into));
  msghdr& header = wanted->around->header;
  header.msg_name = &wanted->around->address;
  header.msg_namelen = sizeof wanted->around->address;
  return awaited;
}

datagram_socket::done datagram_socket::sending(const buffer& what, const endpoint* to) const {
  auto* const wanted = new operation(verb::send_to, state_, what);
  done awaited(wanted);
  wanted->around.reset(new detail::envelope(what));
  if (to == nullptr) return awaited;
  msghdr& header = wanted->around->header;
  std::memcpy(&wanted->around->address, to->address(), to->length());
  header.msg_name = &wanted->around->address;
  header.msg_namelen = to->length();
  // The kernel does not report room in the queue of a socket that is not this one's peer.
  wanted->tried_again = to->family() == AF_UNIX;
  return awaited;
}

datagram_socket::done datagram_socket::send_to(const buffer& what, const endpoint& to) const {
  return sending(what, &to);
}

datagram_socket::done datagram_socket::send(const buffer& what) const {
  return sending(what, nullptr);
}

result<void> datagram_socket::connect(const endpoint& to) const {
  return detail::outcome_of(::connect(state_->fd, to.address(), to.length()), "a connect", state_);
}

result<void> datagram_socket::set_option(int level, int option, int value) const {
  return detail::outcome_of(setsockopt(state_->fd, level, option, &value, sizeof value),
                            "an option", state_);
}

result<endpoint> datagram_socket::local() const {
  return detail::address_of(&getsockname, "the address", state_);
}

result<endpoint> datagram_socket::peer() const {
  return detail::address_of(&getpeername, "the peer", state_);
}

}  // namespace heddle::coop::io
