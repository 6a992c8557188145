#include "heddle/coop/detail/link_mailbox.hpp"
#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::detail {

envelope_queue::pushed envelope_queue::push(link_envelope& added) noexcept {
  link_envelope* newest = nullptr;  // guessed, without a look that would fetch the line once more
  do {
    if (newest == closed_mark()) return pushed::refused;
    added.next = newest;
    // Release: for the reader. And seq_cst: for a side that is being bound, see ring().
  } while (!newest_.compare_exchange_weak(newest, &added, std::memory_order_seq_cst,
                                          std::memory_order_acquire));
  return newest == nullptr ? pushed::first : pushed::later;
}

link_envelope* envelope_queue::in_order(link_envelope* newest) noexcept {
  link_envelope* oldest = nullptr;
  while (newest != nullptr) {
    link_envelope* const older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  return oldest;
}

link_envelope* envelope_queue::take_all() noexcept {
  link_envelope* newest = newest_.load(std::memory_order_relaxed);
  // Only the reader closes it.
  if (newest == nullptr || newest == closed_mark()) return nullptr;
  return in_order(newest_.exchange(nullptr, std::memory_order_acquire));
}

link_envelope* envelope_queue::close() noexcept {
  link_envelope* const newest = newest_.exchange(closed_mark(), std::memory_order_acq_rel);
  return newest == closed_mark() ? nullptr : in_order(newest);
}

bool link_mailbox::push(link_envelope& letter) noexcept {
  switch (incoming_.push(letter)) {
    case envelope_queue::pushed::first:
      ring();
      return true;
    case envelope_queue::pushed::later:
      return true;  // whoever was first has rung
    case envelope_queue::pushed::refused:
      break;
  }
  return false;
}

void link_mailbox::give_back(link_envelope& unused) noexcept {
  unused.reset();
  unused.next = spare_.load(std::memory_order_relaxed);
  // They are only ever taken all at once: so none can be taken and put back meanwhile. Release: for
  // the side. And seq_cst, as the load below: the side says that it wants to be told, then takes
  // what is there; one of the two sees the other.
  while (!spare_.compare_exchange_weak(unused.next, &unused, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) {
  }
  if (!wants_receipts_.load(std::memory_order_seq_cst)) return;
  if (owner() == current_scheduler) {
    side_.grant_room();
  } else {
    ring();
  }
}

// A writer fills the queue, then looks whether there is an owner; the thread that binds the side
// sets the owner, then looks into the queue; all four are seq_cst: one of the two sees the other.
void link_mailbox::ring() noexcept {
  coop::scheduler* const owner = owner_.load(std::memory_order_seq_cst);
  if (owner == nullptr) return;
  if (owner == current_scheduler) {
    side_.receive();
    return;
  }
  // An end that is closed when nothing runs: the other side finds out at its next use.
  if (current_scheduler == nullptr) return;
  parallel::group* const group = parallel::group::of(*owner);
  if (group == nullptr) {
    fatal("the other end of a link is used by a scheduler of another thread that is no group");
  }
  // Acquire and release: the thread that clears it sees the envelopes that were pushed before.
  if ((bell_.fetch_or(rung, std::memory_order_acq_rel) & (rung | released)) == 0) {
    group->post(*this);
  }
}

void link_mailbox::deliver_bell(message& posted, coop::scheduler* to) noexcept {
  auto& self = static_cast<link_mailbox&>(posted);
  if (to != nullptr && self.owner() != to) {
    self.find_owner(*parallel::group::of(*to));
    return;
  }
  // Cleared first: what is pushed from now on rings again.
  const std::uint32_t was = self.bell_.fetch_and(~rung, std::memory_order_acq_rel);
  if ((was & released) != 0) {
    self.core_.drop();
  } else if (to != nullptr) {
    self.side_.receive();  // only this thread can release it
  }
}

// The end has moved on while its bell was under way.
void link_mailbox::find_owner(parallel::group& here) noexcept {
  coop::scheduler* const owner = owner_.load(std::memory_order_seq_cst);
  parallel::group* const group = owner != nullptr ? parallel::group::of(*owner) : nullptr;
  if (group != nullptr && group != &here) {
    group->post(*this);
    return;
  }
  // No group holds the bell. Once it is not rung any more, others may release it at any time.
  core_.references.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t was = bell_.fetch_and(~rung, std::memory_order_seq_cst);
  if ((was & released) != 0) {
    core_.drop();
  } else if (!incoming_.empty() || wants_receipts_.load(std::memory_order_seq_cst)) {
    ring();  // it was bound meanwhile, perhaps
  }
  core_.drop();
}

void link_mailbox::release() noexcept {
  if ((bell_.fetch_or(released, std::memory_order_acq_rel) & rung) == 0) core_.drop();
}

void settle(link_envelope& call, call_outcome outcome) noexcept {
  call.outcome = outcome;
  // Release: for the caller, who reads the outcome as soon as it sees this.
  switch (call.state.exchange(call_state::over, std::memory_order_acq_rel)) {
    case call_state::sent:
      return;
    case call_state::parked:
      if (call.home->mailbox().push(call)) return;
      break;  // closed: the wait has ended, or is about to
    case call_state::over:
    case call_state::abandoned:
      break;
  }
  give_back(call);
}

void give_back(link_envelope& unused) noexcept { unused.home->mailbox().give_back(unused); }

void send_back(link_envelope& letter, envelope_kind why) noexcept {
  letter.kind = why;
  if (!letter.home->mailbox().push(letter)) give_back(letter);
}

}  // namespace heddle::coop::detail
