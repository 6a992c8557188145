#include "heddle/coop/io/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "core.hpp"
#include "polled.hpp"
#include "socket_calls.hpp"

namespace heddle::coop::io {

using detail::address_of;
using detail::file_ref;
using detail::operation;
using detail::outcome_of;
using detail::polled_state;
using detail::verb;

socket::transfer socket::write_all(std::span<const buffer> from) const {
  auto* const wanted = new operation(verb::send, state_);
  transfer awaited(wanted);
  wanted->whole = true;
  wanted->parts.reset(new detail::gathered);
  detail::gathered& parts = *wanted->parts;
  parts.pinned.assign(from.begin(), from.end());
  parts.pieces.reserve(from.size());
  for (const buffer& each : from) {
    parts.pieces.push_back({each.data(), each.size()});
    wanted->size += each.size();
  }
  parts.header.msg_iov = parts.pieces.data();
  parts.header.msg_iovlen = parts.pieces.size();
  return awaited;
}

result<void> socket::shutdown(ending which) const {
  const int how = which == ending::reading   ? SHUT_RD
                  : which == ending::writing ? SHUT_WR
                                             : SHUT_RDWR;
  return outcome_of(::shutdown(state_->fd, how), "a shutdown", state_);
}

result<void> socket::set_no_delay(bool on) const {
  return set_option(IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}

result<void> socket::set_option(int level, int option, int value) const {
  return outcome_of(setsockopt(state_->fd, level, option, &value, sizeof value), "an option",
                    state_);
}

result<endpoint> socket::local() const { return address_of(&getsockname, "the address", state_); }

result<endpoint> socket::peer() const { return address_of(&getpeername, "the peer", state_); }

listener::accepting listener::accept() const {
  auto* const wanted = new operation(verb::accept, state_);
  accepting awaited(wanted);
  if (state_.get() == nullptr) return awaited;  // EBADF
  const polled_state& listening = detail::polled(*state_.get());
  auto* const made = new polled_state(state_->owner, state_->name);
  state_->owner->acquire();
  made->short_is_empty = listening.short_is_empty;
  wanted->accepted = file_ref(made);
  return awaited;
}

result<endpoint> listener::address() const {
  return address_of(&getsockname, "the address", state_);
}

std::uint64_t listener::shortages() const noexcept {
  return detail::polled(*state_.get()).shortages;
}

}  // namespace heddle::coop::io
