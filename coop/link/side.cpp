#include <cstdlib>
#include <stdexcept>

#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/link/errors.hpp"

namespace heddle::coop::detail {

// ---- what has come ------------------------------------------------------------------------------

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

bool link_side::push(link_envelope& added) noexcept {
  switch (incoming_.push(added)) {
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

// A writer fills the queue, then looks whether there is an owner; bind_first() sets the owner, then
// looks into the queue; all four are seq_cst: one of the two sees the other.
void link_side::ring() noexcept {
  coop::scheduler* const owner = owner_.load(std::memory_order_seq_cst);
  if (owner == nullptr) return;
  if (owner == current_scheduler) {
    receive();
    return;
  }
  // An end that is closed when nothing runs: the other side finds out at its next use.
  if (current_scheduler == nullptr) return;
  parallel::group* const group = parallel::group::of(*owner);
  if (group == nullptr) {
    fatal("the other end of a link is used by a scheduler of another thread that is no group");
  }
  // Acquire and release: whoever clears it sees what was pushed before.
  if ((bell_.fetch_or(rung, std::memory_order_acq_rel) & (rung | released)) == 0) {
    group->post(*this);
  }
}

void link_side::deliver_bell(message& posted, parallel::group* to) noexcept {
  auto& self = static_cast<link_side&>(posted);
  if (to != nullptr && self.owner_.load(std::memory_order_relaxed) != &to->scheduler()) {
    self.find_owner(*to);
    return;
  }
  // Cleared first: what is pushed from now on rings again.
  const std::uint32_t was = self.bell_.fetch_and(~rung, std::memory_order_acq_rel);
  if ((was & released) != 0) {
    self.core_.drop();
  } else if (to != nullptr) {
    self.receive();  // only this thread can release it
  }
}

// The end has moved on while its bell was under way.
void link_side::find_owner(parallel::group& here) noexcept {
  coop::scheduler* const owner = owner_.load(std::memory_order_seq_cst);
  parallel::group* const group = owner != nullptr ? parallel::group::of(*owner) : nullptr;
  if (group != nullptr && group != &here) {
    group->post(*this);
    return;
  }
  // In nobody's hands. Once it is not rung any more, others may release it at any time.
  core_.references.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t was = bell_.fetch_and(~rung, std::memory_order_seq_cst);
  if ((was & released) != 0) {
    core_.drop();
  } else if (!incoming_.empty() || wants_receipts_.load(std::memory_order_seq_cst)) {
    ring();  // it was bound meanwhile, perhaps
  }
  core_.drop();
}

void link_side::receive() noexcept {
  ++users_;  // nothing that it wakes or starts releases it meanwhile
  sort(incoming_.take_all());
  if (wants_receipts_.load(std::memory_order_relaxed)) grant_room();
  tell_if_finished();
  --users_;
  release_if_unused();
}

void link_side::collect() noexcept {
  coop::scheduler* const owner = owner_.load(std::memory_order_relaxed);
  if (owner == nullptr || owner == current_scheduler) {
    receive();
  } else if (current_scheduler == nullptr) {
    const bool had = std::exchange(has_handler_, false);  // it may be that nothing will run again
    receive();
    has_handler_ = had;
  }
}

void link_side::sort(link_envelope* oldest) noexcept {
  while (oldest != nullptr) {
    link_envelope& each = *oldest;
    oldest = each.next;
    if (each.kind == envelope_kind::closing) {
      peer_closed_ = true;
      close_calls();
      close_rooms();
      peer_has_closed();
    } else if (each.home == this) {
      each.kind == envelope_kind::returned ? arrive_returned(each) : arrive_over(each);
    } else {
      arrive(each);
    }
  }
}

void link_side::arrive_over(link_envelope& call) noexcept {
  if (call.wait == nullptr) {
    keep(call);
    return;
  }
  link_wait& wait = *std::exchange(call.wait, nullptr);
  count_as_granted(*wait.who);
  scheduler_access::wake(wait);
}

// ---- whose it is --------------------------------------------------------------------------------

std::string link_side::name_for_errors() const {
  return core_.name.empty() ? "an end of a link" : "an end of link \"" + core_.name + '"';
}

void link_side::bind_first() {
  coop::scheduler* const here = current_scheduler;
  const std::string which = name_for_errors();
  if (here == nullptr) throw std::logic_error(which + " is used outside of strands");
  coop::scheduler* const owner = owner_.load(std::memory_order_relaxed);
  if (owner != nullptr) {
    throw std::logic_error(which +
                           " is used in another group than before; detach() it there first");
  }
  owner_.store(here, std::memory_order_seq_cst);
}

void link_side::unbind() {
  if (owner_.load(std::memory_order_relaxed) == nullptr) return;
  bind();
  if (jobs_ != nullptr || !calls_.empty() || !rooms_.empty() || !finished_.empty()) {
    throw std::logic_error("an end of link \"" + core_.name +
                           "\" is detached while strands wait on it or handle its messages");
  }
  has_handler_ = false;
  drop_handler();
  owner_.store(nullptr, std::memory_order_seq_cst);
}

// ---- envelopes ----------------------------------------------------------------------------------

void link_side::refill() {
  reclaim();
  if (free_ != nullptr) return;
  link_envelope& made = make_envelope();
  made.made_next = made_;
  made_ = &made;
  free_ = &made;
}

// Takes what others have given back.
void link_side::reclaim() noexcept {
  std::size_t receipts = 0;
  for (link_envelope* each = spare_.exchange(nullptr, std::memory_order_seq_cst);
       each != nullptr;) {
    link_envelope& back = *each;
    each = back.next;
    if (back.kind != envelope_kind::call) ++receipts;
    back.next = free_;
    free_ = &back;
  }
  if (receipts != 0) note_receipts(receipts);
}

void link_side::give_back(link_envelope& unused) noexcept {
  unused.clear();
  unused.error.reset();
  unused.wait = nullptr;
  link_side& home = *unused.home;
  unused.next = home.spare_.load(std::memory_order_relaxed);
  // They are only ever taken all at once: so none can be taken and put back meanwhile. Release: for
  // home. And seq_cst, as the load below: home says that it wants to be told, then takes what is
  // there; one of the two sees the other.
  while (!home.spare_.compare_exchange_weak(unused.next, &unused, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
  }
  if (home.wants_receipts_.load(std::memory_order_seq_cst)) home.tell_receipt();
}

// ---- room ---------------------------------------------------------------------------------------

// By the other side.
void link_side::tell_receipt() noexcept {
  if (owner_.load(std::memory_order_relaxed) == current_scheduler) {
    grant_room();
  } else {
    ring();
  }
}

void link_side::park_for_room(strand_block& self, room_wait& wait) noexcept {
  wait_in(self, wait, rooms_);
  wants_receipts_.store(true, std::memory_order_seq_cst);
  grant_room();  // what came back before that
}

void link_side::grant_room() noexcept {
  // What is sent within a scheduler is received at once, and that brings us here again.
  if (std::exchange(granting_, true)) return;
  reclaim();
  while (!rooms_.empty()) {
    auto& first = static_cast<room_wait&>(*rooms_.first());
    if (unreceived_ >= first.most) reclaim();
    if (unreceived_ >= first.most) break;
    scheduler_access::wake(first);
    if (send_one_way(*first.letter)) first.letter = nullptr;
  }
  granting_ = false;
  if (rooms_.empty() && !wants_all_receipts_) {
    wants_receipts_.store(false, std::memory_order_relaxed);
  }
}

// They find that it is closed.
void link_side::close_rooms() noexcept {
  while (!rooms_.empty()) scheduler_access::wake_first(rooms_);
  wants_receipts_.store(false, std::memory_order_relaxed);
}

link_side::~link_side() {
  while (made_ != nullptr) delete std::exchange(made_, made_->made_next);
}

// ---- calls --------------------------------------------------------------------------------------

bool link_side::reply_comes_soon(const link_envelope& call) const noexcept {
  const auto is_over = [&] {
    return call.state.load(std::memory_order_acquire) == call_state::over;
  };
  if (is_over()) return true;
  parallel::group* const here = parallel::group::current();
  if (here == nullptr) return false;
  const coop::scheduler* const there = peer_->owner_.load(std::memory_order_relaxed);
  if (there == nullptr || there == current_scheduler) return false;
  return here->spin_for(is_over);
}

void link_side::park_call(strand_block& self, link_wait& wait, link_envelope& call) noexcept {
  wait.envelope = &call;
  call.wait = &wait;
  wait_in(self, wait, calls_);
  call_state seen = call_state::sent;
  if (!call.state.compare_exchange_strong(seen, call_state::parked, std::memory_order_acq_rel)) {
    call.wait = nullptr;
    scheduler_access::wake(wait);
  }
}

void link_side::give_up_call(link_envelope& call) noexcept {
  call_state seen = call.state.load(std::memory_order_acquire);
  while (seen == call_state::sent || seen == call_state::parked) {
    if (call.state.compare_exchange_weak(seen, call_state::abandoned, std::memory_order_acq_rel)) {
      return;  // the other side gives it back
    }
  }
  if (call.wait != nullptr) {
    call.wait = nullptr;  // the reply is under way
  } else {
    keep(call);
  }
}

bool link_side::call_given_up(wait_list& list, wait_node& node) {
  auto& wait = static_cast<link_wait&>(node);
  call_state seen = call_state::parked;
  if (wait.envelope->state.compare_exchange_strong(seen, call_state::abandoned,
                                                   std::memory_order_acq_rel)) {
    wait.envelope = nullptr;
    return false;
  }
  // The reply is under way: it counts.
  wait_in(*node.who, node, list);
  return true;
}

void link_side::settle(link_envelope& call, call_outcome outcome) noexcept {
  call.outcome = outcome;
  // Release: for the caller, who reads the outcome as soon as it sees this.
  switch (call.state.exchange(call_state::over, std::memory_order_acq_rel)) {
    case call_state::sent:
      return;
    case call_state::parked:
      if (call.home->push(call)) return;
      break;  // closed: the wait has ended, or is about to
    case call_state::over:
    case call_state::abandoned:
      break;
  }
  give_back(call);
}

void link_side::send_back(link_envelope& letter) noexcept {
  letter.kind = envelope_kind::returned;
  if (!letter.home->push(letter)) give_back(letter);
}

// ---- handling -----------------------------------------------------------------------------------

link_job::link_job(link_side& its_side, link_envelope* its_call) noexcept
    : side(&its_side), call(its_call), next(its_side.jobs_) {
  if (next != nullptr) next->previous = this;
  side->jobs_ = this;
}

link_job::link_job(link_job&& other) noexcept
    : side(std::exchange(other.side, nullptr)),
      call(other.call),
      strand(other.strand),
      next(other.next),
      previous(other.previous) {
  if (next != nullptr) next->previous = this;
  (previous != nullptr ? previous->next : side->jobs_) = this;
}

void link_job::end(const std::exception_ptr& error) noexcept {
  link_side& from = *std::exchange(side, nullptr);
  if (next != nullptr) next->previous = previous;
  (previous != nullptr ? previous->next : from.jobs_) = next;
  if (strand != nullptr) detail::release(*strand);
  if (call != nullptr) {
    if (error) call->error = describe(error);
    link_side::settle(*call, error ? call_outcome::failed : call_outcome::replied);
  }
  from.job_ended();
}

link_job::~link_job() {
  if (side == nullptr) return;
  link_side& from = *side;
  if (next != nullptr) next->previous = previous;
  (previous != nullptr ? previous->next : from.jobs_) = next;
  if (strand != nullptr) detail::release(*strand);
  --from.running_;
  if (call != nullptr) link_side::settle(*call, call_outcome::closed);
  from.release_if_unused();
}

void link_side::check_handler(std::size_t most) const {
  if (most == 0) {
    throw std::invalid_argument("link \"" + core_.name +
                                "\": no message is ever handled by 0 at once");
  }
  if (jobs_ != nullptr) {
    throw std::logic_error("link \"" + core_.name +
                           "\": its handler is replaced while it handles messages");
  }
}

void link_side::start_ready() noexcept {
  while (has_handler_ && running_ < most_ && !arrived_.empty()) {
    ++running_;
    start(arrived_.pop());
  }
}

void link_side::job_ended() noexcept {
  --running_;
  start_ready();
  tell_if_finished();
  release_if_unused();
}

void link_side::tell_if_finished() noexcept {
  while (!finished_.empty() && is_finished()) scheduler_access::wake_first(finished_);
}

void link_side::cancel_jobs() noexcept {
  for (link_job* each = jobs_; each != nullptr;) {
    link_job* const after = each->next;  // one that never ran ends at once
    if (each->strand != nullptr) detail::cancel(*each->strand);
    each = after;
  }
}

// A strand that is cancelled does not leave before what it serves with has ended.
bool finish_list::given_up(wait_list& list, wait_node& node) {
  link_side& side = static_cast<finish_list&>(list).side;
  if (node.who->reason != wake_reason::cancelled) return false;
  side.has_handler_ = false;
  side.cancelled_ = true;
  ++side.users_;
  side.cancel_jobs();
  --side.users_;
  if (side.jobs_ == nullptr) return false;
  wait_in(*node.who, node, list);
  return true;
}

// ---- the end ------------------------------------------------------------------------------------

void link_side::close() noexcept {
  require_owner();
  if (std::exchange(closed_, true)) return;
  ++users_;
  has_handler_ = false;
  sort(incoming_.close());
  while (!arrived_.empty()) refuse(arrived_.pop());
  for (link_job* each = jobs_; each != nullptr; each = each->next) {
    if (each->call != nullptr) settle(*std::exchange(each->call, nullptr), call_outcome::closed);
  }
  close_calls();
  close_rooms();
  // Nobody looks if the other side is closed, too.
  if (!peer_closed_) static_cast<void>(send(closing_));
  tell_if_finished();
  --users_;
  release_if_unused();
}

// An end is closed wherever it is destroyed, which nothing else could refuse.
void link_side::require_owner() const noexcept {
  const coop::scheduler* const owner = owner_.load(std::memory_order_relaxed);
  if (owner == nullptr || current_scheduler == nullptr || owner == current_scheduler) return;
  fatal((name_for_errors() +
         " is closed or destroyed in another group than that of the strands that used it; "
         "detach() it there first")
            .c_str());
}

void link_side::abandon() noexcept {
  ++users_;
  close();
  cancel_jobs();
  abandoned_ = true;
  --users_;
  release_if_unused();
}

void link_side::refuse(link_envelope& letter) noexcept {
  if (letter.kind == envelope_kind::call) {
    settle(letter, call_outcome::closed);
  } else {
    send_back(letter);
  }
}

// Wakes all that wait for a reply. One that is over is in nobody's queue now: the other side, which
// finds ours closed, takes its envelope back.
void link_side::close_calls() noexcept {
  while (!calls_.empty()) {
    auto& wait = static_cast<link_wait&>(*calls_.first());
    call_state seen = call_state::parked;
    wait.envelope->state.compare_exchange_strong(seen, call_state::abandoned,
                                                 std::memory_order_acq_rel);
    wait.envelope = nullptr;
    scheduler_access::wake(wait);
  }
}

void link_side::release() noexcept {
  drop_handler();
  ++users_;  // once
  if ((bell_.fetch_or(released, std::memory_order_acq_rel) & rung) == 0) core_.drop();
}

}  // namespace heddle::coop::detail
