#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "heddle/coop/detail/ready_queue.hpp"
#include "heddle/coop/detail/scheduler_group.hpp"
#include "heddle/coop/ext/reactor.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

/// What a scheduler does for those who extend it, and users of it do not call.
///
/// All of it belongs to the scheduler's thread.
class scheduler_access {
 public:
  // For groups of schedulers.

  /// The group of a scheduler; null if it runs alone.
  [[nodiscard]] static detail::scheduler_group* group(const scheduler& of_it) noexcept {
    return of_it.group_;
  }
  static void join_group(scheduler& joining, detail::scheduler_group& group) noexcept {
    joining.group_ = &group;
  }
  /// Runs strands until nothing can run, and the group's rest() has said that nothing will. Returns
  /// what a strand threw that nobody holds, if any did.
  [[nodiscard]] static std::exception_ptr run(scheduler& one) {
    one.run_strands();
    return std::exchange(one.unhandled_, nullptr);
  }
  [[nodiscard]] static reactor* attached_reactor(const scheduler& one) noexcept {
    return one.reactor_;
  }
  /// Whether no strand but the running one is ready, and none waits in the reactor.
  [[nodiscard]] static bool is_idle(const scheduler& one) noexcept {
    return one.ready_.empty() &&
           (one.reactor_ == nullptr || one.reactor_->expected() == reactor::expectation::nothing);
  }
  /// Counts a turn that takes no switch. Returns false, and counts none, if timers have to be
  /// looked at first.
  [[nodiscard]] static bool count_turn(scheduler& one) noexcept {
    if (one.turns_ <= 1) return false;
    --one.turns_;
    return true;
  }
  /// So many turns pass until timers are looked at.
  static void set_turns(scheduler& one, std::uint32_t count) noexcept { one.turns_ = count; }
  [[nodiscard]] static bool has_due_timer(const scheduler& one) noexcept {
    return !one.timers_.empty() && one.timers_.earliest() <= one.now();
  }
  /// Whether a recorder is told of each turn.
  [[nodiscard]] static bool announces(const scheduler& one) noexcept { return one.announcer_.on; }
  [[nodiscard]] static const detail::ready_queue& ready_queue(const scheduler& one) noexcept {
    return one.ready_;
  }
  /// Throws std::invalid_argument if no fiber's stack can have that size.
  static void require_fiber_size(const scheduler& one, stack_size wanted) {
    static_cast<void>(one.fiber_size(wanted));
  }
};

}  // namespace heddle::coop
