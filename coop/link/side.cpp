#include <stdexcept>
#include <string>
#include <utility>

#include "heddle/coop/context/context.hpp"
#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::detail {

void link_side::receive() noexcept {
  ++users_;  // nothing that it wakes or starts releases it meanwhile
  sort(mailbox_.take_letters());
  if (mailbox_.wants_receipts()) grant_room();
  tell_if_finished();
  --users_;
  release_if_unused();
}

void link_side::collect() noexcept {
  const coop::scheduler* const owner = mailbox_.owner();
  if (owner == nullptr || owner == current_scheduler) {
    receive();
  } else if (current_scheduler == nullptr) {
    const bool had = jobs_.set_has_handler(false);  // it may be that nothing will run again
    receive();
    jobs_.set_has_handler(had);
  }
}

void link_side::sort(link_envelope* oldest) noexcept {
  while (oldest != nullptr) {
    link_envelope& each = *oldest;
    oldest = each.next;
    if (each.kind == envelope_kind::closing) {
      peer_closed_ = true;
      wake_all();
      peer_has_closed();
    } else if (each.home == this) {
      each.kind == envelope_kind::call ? arrive_over(each) : arrive_returned(each);
    } else {
      arrive(each);
    }
  }
}

std::string link_side::name_for_errors() const {
  return core_.name.empty() ? "an end of a link" : "an end of link \"" + core_.name + '"';
}

void link_side::bind_first() {
  coop::scheduler* const here = current_scheduler;
  const std::string which = name_for_errors();
  if (here == nullptr) throw std::logic_error(which + " is used outside of strands");
  if (mailbox_.owner() != nullptr) {
    throw std::logic_error(which +
                           " is used in another group than before; detach() it there first");
  }
  mailbox_.bind(here);
}

void link_side::unbind() {
  if (mailbox_.owner() == nullptr) return;
  bind();
  if (!jobs_.empty() || !calls_.empty() || !pacer_.nobody_waits() || !finished_.empty()) {
    throw std::logic_error("an end of link \"" + core_.name +
                           "\" is detached while strands wait on it or handle its messages");
  }
  jobs_.set_has_handler(false);
  drop_handler();
  mailbox_.bind(nullptr);
}

void link_side::refill() {
  reclaim();
  if (envelopes_.empty()) envelopes_.own(make_envelope());
}

// Takes what others have given back.
void link_side::reclaim() noexcept {
  std::size_t receipts = 0;
  for (link_envelope* each = mailbox_.take_given_back(); each != nullptr;) {
    link_envelope& back = *each;
    each = back.next;
    if (back.kind != envelope_kind::call) ++receipts;
    envelopes_.put(back);
  }
  if (receipts != 0) note_receipts(receipts);
}

void link_side::park_for_room(strand_block& self, room_wait& wait) noexcept {
  wait_in(self, wait, pacer_.waiting());
  mailbox_.want_receipts();
  grant_room();  // what came back before that
}

void link_side::grant_room() noexcept {
  const bool granted =
      pacer_.grant([this] { reclaim(); },
                   [this](link_envelope& letter) noexcept { return send_one_way(letter); });
  if (granted && !pacer_.needs_receipts()) mailbox_.want_no_receipts();
}

bool link_side::reply_comes_soon(const link_envelope& call) const noexcept {
  const auto is_over = [&] {
    return call.state.load(std::memory_order_acquire) == call_state::over;
  };
  if (is_over()) return true;
  parallel::group* const here = parallel::group::current();
  if (here == nullptr) return false;
  const coop::scheduler* const there = peer_->mailbox_.owner();
  if (there == nullptr || there == current_scheduler) return false;
  return here->spin_for(is_over);
}

void link_side::check_handler(std::size_t most) const {
  if (most == 0) {
    throw std::invalid_argument("link \"" + core_.name +
                                "\": no message is ever handled by 0 at once");
  }
  if (!jobs_.empty()) {
    throw std::logic_error("link \"" + core_.name +
                           "\": its handler is replaced while it handles messages");
  }
}

void link_side::start_ready() noexcept {
  while (link_envelope* const letter = jobs_.start_next()) start(*letter);
}

void link_side::job_ended() noexcept {
  jobs_.count_ended();
  start_ready();
  tell_if_finished();
  release_if_unused();
}

void link_side::tell_if_finished() noexcept {
  while (!finished_.empty() && is_finished()) scheduler_access::wake_first(finished_);
}

bool link_side::cancel_jobs() noexcept {
  jobs_.set_has_handler(false);
  cancelled_ = true;
  ++users_;
  jobs_.cancel();
  --users_;
  return !jobs_.empty();
}

// A strand that is cancelled does not leave before what it serves with has ended.
bool finish_list::given_up(wait_list& list, wait_node& node) {
  if (node.who->reason != wake_reason::cancelled) return false;
  if (!static_cast<finish_list&>(list).side.cancel_jobs()) return false;
  wait_in(*node.who, node, list);
  return true;
}

// All that wait for the other side find that the link is closed.
void link_side::wake_all() noexcept {
  calls_.close();
  pacer_.close();
  mailbox_.want_no_receipts();
}

void link_side::close() noexcept {
  require_owner();
  if (std::exchange(closed_, true)) return;
  ++users_;
  jobs_.set_has_handler(false);
  sort(mailbox_.close());
  while (!jobs_.arrived().empty()) refuse(jobs_.arrived().pop());
  jobs_.close_calls();
  wake_all();
  // If the other side is closed, too, it would not read the message.
  if (!peer_closed_) static_cast<void>(send(closing_));
  tell_if_finished();
  --users_;
  release_if_unused();
}

// An end is closed wherever it is destroyed, which nothing else could refuse.
void link_side::require_owner() const noexcept {
  const coop::scheduler* const owner = mailbox_.owner();
  if (owner == nullptr || current_scheduler == nullptr || owner == current_scheduler) return;
  fatal((name_for_errors() +
         " is closed or destroyed in another group than that of the strands that used it; "
         "detach() it there first")
            .c_str());
}

void link_side::abandon() noexcept {
  ++users_;
  close();
  jobs_.cancel();
  abandoned_ = true;
  --users_;
  release_if_unused();
}

void link_side::refuse(link_envelope& letter) noexcept {
  if (letter.kind == envelope_kind::call) {
    settle(letter, call_outcome::closed);
  } else {
    send_back(letter, envelope_kind::refused);
  }
}

void link_side::release() noexcept {
  drop_handler();
  ++users_;  // once
  mailbox_.release();
}

}  // namespace heddle::coop::detail
