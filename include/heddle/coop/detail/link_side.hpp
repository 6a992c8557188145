#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "heddle/coop/detail/link_calls.hpp"
#include "heddle/coop/detail/link_envelope.hpp"
#include "heddle/coop/detail/link_jobs.hpp"
#include "heddle/coop/detail/link_mailbox.hpp"
#include "heddle/coop/detail/link_pacer.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/wait_list.hpp"

namespace heddle::coop::detail {

/// The strands that wait for the end of a link's messages.
struct finish_list final : wait_list {
  link_side& side;
  finish_list(link_side& its_side, const std::string& name) noexcept
      : wait_list("the end of link", name, &given_up), side(its_side) {}

 private:
  static bool given_up(wait_list& list, wait_node& node);
};

/// One end of a link, without its types: puts its parts together, and knows whether it is closed
/// and who still uses it.
///
/// The other side may touch its mailbox. All else belongs to the scheduler to which the side is
/// bound.
class link_side {
 public:
  link_side(link_core& core, link_side& peer) noexcept
      : core_(core), peer_(&peer), closing_(*this, envelope_kind::closing), mailbox_(*this, core) {}
  link_side(const link_side&) = delete;
  link_side& operator=(const link_side&) = delete;

  // For the end, and what waits on it; in the scheduler to which it is bound.

  /// From the first use on the end belongs to the scheduler that runs. Throws std::logic_error in
  /// another one, or in none.
  void bind() {
    const coop::scheduler* const here = this_scheduler();
    if (mailbox_.owner() != here || here == nullptr) [[unlikely]] {
      bind_first();
    }
    if (!mailbox_.empty()) receive();
  }
  /// Belongs to no scheduler any more. Throws std::logic_error while strands wait on it, or handle
  /// messages.
  void unbind();
  void close() noexcept;
  /// Like close(), when no strand holds the end any more.
  void abandon() noexcept;

  [[nodiscard]] bool closed() const noexcept { return closed_ || peer_closed_; }
  [[noreturn]] void throw_closed() const;

  /// An envelope to be filled and sent.
  link_envelope& take_envelope(envelope_kind kind) {
    if (envelopes_.empty()) [[unlikely]] {
      refill();
    }
    link_envelope& taken = envelopes_.take();
    taken.kind = kind;
    taken.state.store(call_state::sent, std::memory_order_relaxed);
    return taken;
  }
  /// It is home, and not needed any more.
  void keep(link_envelope& unused) noexcept {
    unused.reset();
    envelopes_.put(unused);
  }
  /// Hands it to the other side; false if that takes nothing more.
  [[nodiscard]] bool send(link_envelope& letter) noexcept { return peer_->mailbox_.push(letter); }

  /// Whether one more message may be sent, if at most `most` may be in flight, and no strand waits
  /// for room.
  [[nodiscard]] bool has_room(std::size_t most) noexcept {
    if (!pacer_.nobody_waits()) return false;
    if (!pacer_.has_room(most)) reclaim();
    return pacer_.nobody_waits() && pacer_.has_room(most);
  }
  /// Hands a one-way message to the other side; false if that takes nothing more.
  [[nodiscard]] bool send_one_way(link_envelope& letter) noexcept {
    pacer_.count_sent();  // before it is received
    if (!closed() && send(letter)) return true;
    pacer_.count_received(1);
    return false;
  }
  /// Keeps a message that was not sent among returned(). Throws link_closed.
  [[noreturn]] void return_one_way(link_envelope& letter) {
    returned_.append(letter);
    throw_closed();
  }
  /// Sends its letter as soon as there is room; then the strand is ready.
  void park_for_room(strand_block& self, room_wait& wait) noexcept;

  /// Looks out for the reply for a short time, if there is nothing else to do.
  [[nodiscard]] bool reply_comes_soon(const link_envelope& call) const noexcept;
  void park_call(strand_block& self, link_wait& wait, link_envelope& call) noexcept {
    calls_.park(self, wait, call);
  }
  /// The strand of a call that was sent is gone.
  void give_up_call(link_envelope& call) noexcept {
    if (link_calls::give_up(call)) keep(call);
  }

  [[nodiscard]] bool is_finished() const noexcept {
    return jobs_.empty() &&
           (cancelled_ || (closed() && (jobs_.arrived().empty() || !jobs_.has_handler())));
  }
  void park_finished(strand_block& self, wait_node& node) noexcept {
    wait_in(self, node, finished_);
  }

  [[nodiscard]] const std::string& name() const noexcept { return core_.name; }
  [[nodiscard]] std::size_t queued() const noexcept { return jobs_.arrived().size(); }
  /// The messages that came back unhandled, also while no scheduler runs.
  [[nodiscard]] envelope_list& returned() noexcept {
    if (!mailbox_.empty()) collect();
    return returned_;
  }

  /// For what waits on it, and so keeps it.
  void pin() noexcept { ++users_; }
  void unpin() noexcept {
    --users_;
    release_if_unused();
  }

  // For its parts.

  /// The part of this side that the other side's thread may access.
  [[nodiscard]] link_mailbox& mailbox() noexcept { return mailbox_; }
  [[nodiscard]] link_jobs& jobs() noexcept { return jobs_; }
  /// Takes what is in the mailbox.
  void receive() noexcept;
  /// Sends what waited for room, as far as there is some.
  void grant_room() noexcept;
  void job_ended() noexcept;
  /// Handles nothing more, and cancels what is being handled. Returns whether something still is.
  bool cancel_jobs() noexcept;
  /// The last that is done in any call: the side may be gone afterwards.
  void release_if_unused() noexcept {
    if (abandoned_ && users_ == 0 && jobs_.empty()) [[unlikely]] {
      release();
    }
  }

 protected:
  ~link_side() = default;

  // Operations that need the types of messages and replies.

  virtual link_envelope& make_envelope() = 0;
  /// Handles a message, in a strand that it spawns.
  virtual void start(link_envelope& letter) = 0;
  /// The handler may not be needed any more.
  virtual void drop_handler() noexcept = 0;

  // Operations that a side overrides if it is a connection.

  /// A message has come.
  virtual void arrive(link_envelope& letter) noexcept {
    jobs_.arrived().append(letter);
    start_ready();
  }
  /// A call of this side is over.
  virtual void arrive_over(link_envelope& call) noexcept {
    if (!link_calls::end(call)) keep(call);
  }
  virtual void arrive_returned(link_envelope& letter) noexcept {
    // A refused one makes no room: who waits for room would be sent to an end that is closed, and
    // told so before the others have come back.
    if (letter.kind == envelope_kind::returned) pacer_.count_received(1);
    returned_.append(letter);
  }
  /// So many of the one-way messages sent from here were received, as their envelopes say that came
  /// back.
  virtual void note_receipts(std::size_t count) noexcept { pacer_.count_received(count); }
  virtual void peer_has_closed() noexcept {}

  /// Throws if there can be no handler for so many at once now.
  void check_handler(std::size_t most) const;
  [[nodiscard]] coop::scheduler& owner() const noexcept { return *mailbox_.owner(); }
  /// Records the strand of the job that was made last.
  void note_strand(strand_block& strand) noexcept { jobs_.note_strand(strand); }
  /// A handler is there, for at most so many messages at once.
  void serve(std::size_t most) noexcept {
    jobs_.serve(most);
    start_ready();
  }
  /// From now on note_receipts() is called soon after each receipt.
  void want_receipts() noexcept {
    pacer_.want_all_receipts();
    mailbox_.want_receipts();
  }
  /// Why it is closed, if it was not by its ends.
  void set_reason(std::string_view reason) { peer_->reason_ = reason; }

 private:
  void collect() noexcept;
  void sort(link_envelope* oldest) noexcept;
  void bind_first();
  void require_owner() const noexcept;
  [[nodiscard]] std::string name_for_errors() const;
  void refill();
  void reclaim() noexcept;
  void start_ready() noexcept;
  static void refuse(link_envelope& letter) noexcept;
  void wake_all() noexcept;
  void tell_if_finished() noexcept;
  void release() noexcept;

  link_core& core_;
  link_side* const peer_;
  envelope_pool envelopes_;
  envelope_list returned_;  // our one-way messages that nobody took
  link_jobs jobs_;
  std::size_t users_ = 0;
  bool closed_ = false;       // this end
  bool peer_closed_ = false;  // the other one
  bool abandoned_ = false;    // nobody holds the end
  bool cancelled_ = false;    // whoever waited for the end is to end, and what is handled, too
  std::string reason_;        // written before the closing was sent
  link_envelope closing_;
  link_calls calls_{core_.name};
  link_pacer pacer_{core_.name};
  finish_list finished_{*this, core_.name};
  link_mailbox mailbox_;
};

/// Keeps a side while something waits on it. Taken late, as awaitables are moved before.
class link_pin {
 public:
  link_pin() noexcept = default;
  link_pin(link_pin&& other) noexcept : side_(std::exchange(other.side_, nullptr)) {}
  link_pin& operator=(link_pin&&) = delete;
  ~link_pin() {
    if (side_ != nullptr) side_->unpin();
  }
  void take(link_side& side) noexcept {
    side_ = &side;
    side.pin();
  }

 private:
  link_side* side_ = nullptr;
};

/// The same for a handler as a fiber and as a task: what it threw, as the caller is told.
[[nodiscard]] std::unique_ptr<handler_error> describe(const std::exception_ptr& error);
[[noreturn]] void throw_handler_failed(const handler_error& error);

}  // namespace heddle::coop::detail
