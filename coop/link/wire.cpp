#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/link_wire.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

void link_wire::open(io::socket connection, std::uint64_t types) {
  try {
    bind();
  } catch (...) {
    abandon();
    throw;
  }
  connection_ = std::move(connection);
  types_ = types;
  put(frame_kind::hello, types, [](std::string&) {});
  want_receipts();
  pin();
  // However a strand ends.
  using held = std::unique_ptr<link_wire, void (*)(link_wire*)>;
  const auto let_go = [](link_wire* self) { self->one_has_ended(); };
  owner().spawn([self = held(this, let_go)] { return read(*self); }, "link reader");
  owner().spawn([self = held(this, let_go)] { return write(*self); }, "link writer");
}

// Returns 0, or of how many bytes it would be, if those are too many: it is not sent then.
template <class Encode>
std::size_t link_wire::put(frame_kind kind, std::uint64_t number, const Encode& encode) {
  if (ending_) return 0;
  const std::size_t begin = out_.size();
  out_.resize(begin + sizeof(header));
  encode(out_);
  const std::size_t bytes = out_.size() - begin - sizeof(header);
  if (bytes > most_bytes) {
    out_.resize(begin);
    return bytes;
  }
  const header head{static_cast<std::uint32_t>(bytes), kind, number};
  std::memcpy(out_.data() + begin, &head, sizeof head);
  if (begin == 0) pending_.V();
  return 0;
}

handler_error link_wire::too_long(const char* what, std::size_t bytes) {
  return {"std::length_error", std::string(what) + " of " + std::to_string(bytes) +
                                   " bytes: between processes one has " +
                                   std::to_string(most_bytes) + " at most"};
}

// ---- from the near end --------------------------------------------------------------------------

void link_wire::arrive(link_envelope& letter) noexcept {
  const bool is_call = letter.kind == envelope_kind::call;
  if (ending_) {
    // It came while this side closed. At once, as the near end must hear of a call before it hears
    // of the closing, which ends its waits.
    is_call ? settle(letter, call_outcome::closed) : give_back(letter);
    return;
  }
  const std::uint64_t number = is_call ? ++last_number_ : 0;
  const std::size_t too_many = put(is_call ? frame_kind::call : frame_kind::one_way, number,
                                   [&](std::string& out) { encode_request(letter, out); });
  if (is_call && too_many != 0) {
    letter.error = std::make_unique<handler_error>(too_long("a request", too_many));
    settle(letter, call_outcome::failed);
  } else if (is_call) {
    under_way_.emplace(number, &letter);
  } else if (too_many != 0) {
    send_back(letter, envelope_kind::returned);
  } else {
    letter.clear();
    not_received_.append(letter);  // until the other process says so
  }
}

// One frame for as many as there are when the writer comes to it.
void link_wire::note_receipts(std::size_t count) noexcept {
  if (std::exchange(receipts_, receipts_ + count) == 0) pending_.V();
}

void link_wire::arrive_over(link_envelope& call) noexcept {
  switch (call.outcome) {
    case call_outcome::replied: {
      const std::size_t too_many =
          put(frame_kind::reply, call.number, [&](std::string& out) { encode_reply(call, out); });
      if (too_many != 0) put_error(call.number, too_long("a reply", too_many));
      break;
    }
    case call_outcome::failed:
      put_error(call.number, *call.error);
      break;
    case call_outcome::closed:
      put(frame_kind::closed, call.number, [](std::string&) {});
      break;
  }
  keep(call);
}

void link_wire::put_error(std::uint64_t number, const handler_error& error) {
  // The end of a text that is too long is left out.
  const std::string_view what = std::string_view(error.what).substr(0, most_bytes / 2);
  put(frame_kind::failed, number,
      [&](std::string& out) { out.append(error.type).append(1, '\0').append(what); });
}

void link_wire::peer_has_closed() noexcept {
  put(frame_kind::closed, 0, [](std::string&) {});
  ending_ = true;  // once that is written
  pending_.V();
}

// ---- from the other process ---------------------------------------------------------------------

void link_wire::take(std::string_view bytes) {
  in_.append(bytes);
  std::size_t done = 0;
  while (in_.size() - done >= sizeof(header) && !closed()) {
    header head;
    std::memcpy(&head, in_.data() + done, sizeof head);
    if (head.bytes > most_bytes) {
      fail("the other process sent a frame of " + std::to_string(head.bytes) +
           " bytes, more than " + std::to_string(most_bytes));
      return;
    }
    if (in_.size() - done - sizeof head < head.bytes) break;
    const std::string wrong =
        take_guarded(head, std::string_view(in_).substr(done + sizeof head, head.bytes));
    if (!wrong.empty()) {
      fail("the other process sent a malformed frame: " + wrong);
      return;
    }
    done += sizeof head + head.bytes;
  }
  in_.erase(0, done);
}

// Like take_frame(), but an exception of a link_codec counts as an error of the frame, too.
std::string link_wire::take_guarded(const header& head, std::string_view payload) {
  try {
    const char* const wrong = take_frame(head, payload);
    return wrong != nullptr ? wrong : "";
  } catch (const std::exception& thrown) {
    return std::string("it cannot be decoded: ") + thrown.what();
  }
}

// Returns what is wrong with it, if anything is.
const char* link_wire::take_frame(const header& head, std::string_view payload) {
  if (!std::exchange(greeted_, true)) {
    if (head.kind != frame_kind::hello || head.bytes != 0) return "no hello came first";
    return head.number == types_ ? nullptr : "its link has other types";
  }
  switch (head.kind) {
    case frame_kind::hello:
      return "a second hello";
    case frame_kind::call:
    case frame_kind::one_way: {
      const bool is_call = head.kind == frame_kind::call;
      link_envelope& made = take_envelope(is_call ? envelope_kind::call : envelope_kind::one_way);
      made.number = head.number;
      // The state is as if a strand waited, so that the reply is sent here.
      made.state.store(call_state::parked, std::memory_order_relaxed);
      if (!decode_request(payload, made)) {
        keep(made);
        return "a request that cannot be decoded";
      }
      if (!send(made)) {
        keep(made);
        if (is_call) put(frame_kind::closed, head.number, [](std::string&) {});
      }
      return nullptr;
    }
    case frame_kind::received:
      if (head.number > not_received_.size()) return "a receipt of messages that were not sent";
      for (std::uint64_t i = 0; i < head.number; ++i) give_back(not_received_.pop());
      return nullptr;
    case frame_kind::reply:
    case frame_kind::failed:
    case frame_kind::closed:
      break;
    default:
      return "its kind is unknown";
  }
  if (head.kind == frame_kind::closed && head.number == 0) {
    fail({});
    return nullptr;
  }
  const auto found = under_way_.find(head.number);
  if (found == under_way_.end()) return "a reply to a call that was not made";
  link_envelope& call = *found->second;
  if (head.kind == frame_kind::failed) {
    const std::size_t end = payload.find('\0');
    if (end == std::string_view::npos) return "an error without a type";
    call.error = std::make_unique<handler_error>(
        handler_error{std::string(payload.substr(0, end)), std::string(payload.substr(end + 1))});
  } else if (head.kind == frame_kind::reply && !decode_reply(payload, call)) {
    return "a reply that cannot be decoded";
  }
  under_way_.erase(found);
  settle(call, head.kind == frame_kind::reply    ? call_outcome::replied
               : head.kind == frame_kind::failed ? call_outcome::failed
                                                 : call_outcome::closed);
  return nullptr;
}

// ---- the end ------------------------------------------------------------------------------------

void link_wire::fail(std::string_view reason) noexcept {
  if (closed() && ending_ && under_way_.empty()) return;
  ending_ = true;
  out_.clear();
  // Once: the near end reads it as soon as it knows that this one is closed.
  if (!closed()) set_reason(reason);
  for (const auto& [number, call] : std::exchange(under_way_, {})) {
    settle(*call, call_outcome::closed);
  }
  close();
  static_cast<void>(connection_.shutdown(io::ending::both));
  pending_.V();
}

void link_wire::one_has_ended() noexcept {
  if (--strands_ != 0) return;
  fail({});
  connection_ = {};  // here: it belongs to this thread
  abandon();
  unpin();
}

task<> link_wire::read(link_wire& self) {
  const io::buffer page(64 * 1024);
  for (;;) {
    const io::result<std::size_t> got = co_await self.connection_.read(page);
    if (!got || got.value() == 0) {
      self.fail("the other process is gone");
      co_return;
    }
    self.take(page.text(got.value()));
  }
}

task<> link_wire::write(link_wire& self) {
  for (;;) {
    if (self.receipts_ != 0) {
      self.put(frame_kind::received, std::exchange(self.receipts_, 0), [](std::string&) {});
    }
    if (self.out_.empty()) {
      if (self.ending_) break;
      co_await self.pending_.P();
      continue;
    }
    const io::buffer frames = io::buffer::copy_of(self.out_);
    self.out_.clear();
    const io::result<std::size_t> put = co_await self.connection_.write_all(frames);
    if (!put) self.fail("the other process is gone");
  }
  static_cast<void>(self.connection_.shutdown(io::ending::both));  // the reader's end
}

}  // namespace heddle::coop::detail
