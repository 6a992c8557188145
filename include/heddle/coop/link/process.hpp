#pragma once

#include <string>
#include <utility>

#include "heddle/coop/detail/link_wire.hpp"
#include "heddle/coop/io/socket.hpp"
#include "heddle/coop/link/codec.hpp"
#include "heddle/coop/link/link.hpp"

namespace heddle::coop {

namespace detail {

template <class Request, class Reply>
class wire_of final : public link_wire {
  using envelope = envelope_of<Request, Reply>;

 public:
  using link_wire::link_wire;

 private:
  link_envelope& make_envelope() override { return *new envelope(*this); }
  void encode_request(const link_envelope& from, std::string& out) override {
    link_codec<Request>::encode(*static_cast<const envelope&>(from).request, out);
  }
  void encode_reply(const link_envelope& from, std::string& out) override {
    if constexpr (!std::is_void_v<Reply>) {
      link_codec<Reply>::encode(*static_cast<const envelope&>(from).reply, out);
    }
  }
  bool decode_request(std::string_view bytes, link_envelope& to) override {
    auto& request = static_cast<envelope&>(to).request;
    request = link_codec<Request>::decode(bytes);
    return request.has_value();
  }
  bool decode_reply(std::string_view bytes, link_envelope& to) override {
    auto& reply = static_cast<envelope&>(to).reply;
    if constexpr (std::is_void_v<Reply>) {
      reply.emplace();
      return bytes.empty();
    } else {
      reply = link_codec<Reply>::decode(bytes);
      return reply.has_value();
    }
  }
};

template <class Request, class Reply>
struct process_core final : link_core {
  side_of<Request, Reply> near;
  wire_of<Request, Reply> far;

  explicit process_core(std::string its_name)
      : link_core(std::move(its_name)), near(*this, far), far(*this, near) {}
};

}  // namespace detail

/// The near end of a link whose other end is in another process, at the other end of `connection`:
/// a socketpair(2) that was made before a fork, or what a listener accepted, or connect() made, on
/// a path. Both processes call it, with the same types; see link_codec. To be called by a strand of
/// the scheduler that has the connection's io::service; the end may then be moved like any other.
///
/// Everything is as between groups, but: one-way messages do not come back once they are written;
/// an end cannot be sent to another process; when the process dies, or sends what makes no sense,
/// the link is closed, and link_closed says why. A message has at most 64 MB: a call with a larger
/// request or reply throws handler_failed of type std::length_error, a one-way message comes back,
/// and the link goes on. A peer is not trusted: one that sends more is cut off.
///
/// By a Unix socket and not by shared memory: a round trip between processes that sleep meanwhile
/// takes as long by either (system calls and switches are the same), the kernel tells when the
/// other one dies, and what was checked cannot be changed afterwards.
template <class Request, class Reply = void>
[[nodiscard("an end that is dropped is closed")]] link_end<Request, Reply> link_over(
    io::socket connection, std::string name = {}) {
  auto* const core = new detail::process_core<Request, Reply>(std::move(name));
  link_end<Request, Reply> end(core->near);
  core->far.open(std::move(connection), detail::types_number<Request, Reply>());
  return end;
}

}  // namespace heddle::coop
