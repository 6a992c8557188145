// Announcements to the recorder: which strand makes which, which one runs, its name, the object it
// waits for, its end.
// Without a recorder none of these functions is called; with one, every turn takes the slow path
// through next_slow(), and no other code depends on the recorder.
#include <atomic>
#include <string>

#include "heddle/coop/scheduler.hpp"
#include "heddle/trace.h"

namespace heddle::coop {

using detail::strand_block;
using detail::strand_status;

namespace {

std::atomic<std::uint64_t> announced_schedulers = 0;

bool recorder_is_loaded() noexcept {
  void (*announce)(std::uint64_t);
  HEDDLE_FIND_(announce, heddle_trace_strand_switch);
  return announce != nullptr;
}

}  // namespace

scheduler::announcer::announcer() noexcept : on(recorder_is_loaded()) {
  // Numbers of strands are unique in the process, and never used again.
  if (on) first_number = announced_schedulers.fetch_add(1, std::memory_order_relaxed) << 40;
}

void scheduler::announce_made(const strand_block& strand) const noexcept {
  heddle_strand_made(number(strand));
}

void scheduler::announce_wait(const strand_block& strand) const {
  if (!strand.is_waiting()) return;  // it yields
  const std::string reason = detail::waited_for(strand);
  heddle_strand_waits(number(strand), reason.empty() ? "time to pass" : reason.c_str());
}

void scheduler::announce_end(const strand_block& strand) const noexcept {
  heddle_strand_end(number(strand));
}

void scheduler::announce_turn(const strand_block* to) {
  // The number of one that has ended is all that is left of it.
  if (detail::current_strand == nullptr && announcer_.running != 0) {
    heddle_strand_end(announcer_.running);
  }
  announcer_.running = to != nullptr ? number(*to) : 0;
  if (to != nullptr && to->status == strand_status::unstarted && !to->name().empty()) {
    heddle_name_strand(announcer_.running, std::string(to->name()).c_str());
  }
  heddle_strand_switch(announcer_.running);
}

}  // namespace heddle::coop
