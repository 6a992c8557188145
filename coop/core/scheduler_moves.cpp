// Moves strands, and the fibers that they run on, from one scheduler to another.
#include <memory>
#include <string>
#include <utility>

#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/trace.h"

namespace heddle::coop {

using detail::current_strand;
using detail::fiber_context;
using detail::strand_block;
using detail::strand_kind;
using detail::strand_status;

// Gives up the ownership of a fiber that is not idle.
std::unique_ptr<detail::fiber> scheduler::let_go(detail::fiber& runner) noexcept {
  auto& owned = fibers_[runner.place];
  owned.swap(fibers_.back());
  owned->place = runner.place;
  std::unique_ptr<detail::fiber> gone = std::move(fibers_.back());
  fibers_.pop_back();
  idle_fibers_.forget(runner.size);
  return gone;
}

// Adopts a fiber of another scheduler. It replaces an idle fiber, as otherwise a scheduler to which
// strands come, but which none leave, would collect ever more stacks.
void scheduler::take_in(std::unique_ptr<detail::fiber> runner) {
  if (detail::fiber* const idle = idle_fibers_.take(runner->size)) let_go(*idle);
  idle_fibers_.make_room(runner->size);
  runner->belong_to(*this, main_);
  runner->place = static_cast<std::uint32_t>(fibers_.size());
  fibers_.push_back(std::move(runner));
}

void scheduler::send(strand_block& strand, detail::strand_carrier& carrier) noexcept {
  // The end of a strand that moves itself is announced to the recorder at the next turn.
  if (announcer_.on && strand.status != strand_status::leaving) announce_end(strand);
  ready_.remove(strand);
  all_.remove(strand);
  if (strand.kind == strand_kind::fiber && strand.runner != nullptr) {
    static_cast<void>(let_go(*strand.runner).release());  // until it arrives, the strand's
  }
  carrier.post();
}

// The strand's stack, or its frame, is not in use any more: once its carrier is posted, another
// thread may run it.
void scheduler::send_leaving() noexcept {
  const auto [strand, carrier] = std::exchange(leaving_, {});
  current_strand = nullptr;
  send(*strand, *carrier);
}

void scheduler_access::leave_for_good(strand_block& self) {
  // By way of run(), which sends the strand: a fiber that this one switched to would not.
  fiber_context::switch_to(self.runner->context, detail::this_scheduler()->main_);
}

void scheduler::arrive(strand_block& strand) {
  strand.owner = this;
  all_.add(strand);
  if (strand.kind == strand_kind::fiber && strand.runner != nullptr) {
    take_in(std::unique_ptr<detail::fiber>(strand.runner));
  }
  if (announcer_.on && !strand.name().empty()) {
    heddle_name_strand(number(strand), std::string(strand.name()).c_str());
  }
  if (strand.status == strand_status::leaving) strand.status = strand_status::ready;
  ready_.push(strand);
}

}  // namespace heddle::coop
