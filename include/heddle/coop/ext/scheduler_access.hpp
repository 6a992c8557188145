#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "heddle/coop/detail/ready_queue.hpp"
#include "heddle/coop/detail/scheduler_group.hpp"
#include "heddle/coop/detail/strand_attachments.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/reactor.hpp"
#include "heddle/coop/ext/wait_list.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

/// The functions of a scheduler for code that extends it: awaitables, wait lists, reactors, groups
/// of schedulers. Users of a scheduler call none of them.
///
/// To be called on the scheduler's thread.
class scheduler_access {
 public:
  // Waking strands.

  /// Ends the wait that the node stands for: the strand is ready. If several waits have to end,
  /// only the last one does that.
  static void wake(detail::wait_node& node) {
    node.list->remove(node);
    end_wait(node, *node.who);
  }
  /// Like wake(), for the first node of a list that is not empty.
  static void wake_first(detail::wait_list& list) {
    detail::wait_node& node = *list.first();
    end_wait(node, list.remove_first());
  }
  /// Like wake(), for a node that was already taken out of its list.
  static void end_wait(detail::wait_node& node, detail::strand_block& strand) {
#if HEDDLE_THREAD_CHECKS
    if (detail::this_scheduler() != strand.owner) {
      strand.owner->require_own_thread("wakes a strand of");
    }
#endif
    if (strand.timed || strand.several) [[unlikely]] {
      if (!strand.owner->leave_others(node, strand)) return;
    }
    strand.waits = nullptr;
    strand.owner->ready_.push(strand);
  }
  /// Puts a strand that is not in the ready queue, nor waits in a list, at its end.
  static void make_ready(detail::strand_block& strand) { strand.owner->make_ready(strand); }
  /// Cancels a strand, in whatever state it is.
  static void cancel(detail::strand_block& strand) { strand.owner->cancel(strand); }

  /// The error with which a strand has ended has been told.
  static void forget_unseen(detail::strand_block& failed) noexcept {
    failed.owner->forget_unseen(failed);
  }
  /// The last handle of a strand goes, whose error was not told to anybody.
  static void drop_unseen(detail::strand_block& failed) noexcept {
    scheduler& owner = *failed.owner;
    owner.forget_unseen(failed);
    if (!owner.unhandled_) owner.unhandled_ = failed.rare->error;
  }

  // For other threads.

  /// Has the scheduler deliver `posted`, soon: when it has nothing else to run, or after some tens
  /// of turns. From any thread; never waits.
  static void post(scheduler& to, message& posted) noexcept { to.post(posted); }
  /// Delivers what was posted; returns whether there was anything. On its own thread.
  static bool deliver_posts(scheduler& to) noexcept { return to.deliver_posts(); }
  /// Something that is under way will be posted: until expected_post_came(), that nothing can run
  /// is no deadlock, and virtual time stands still.
  static void expect_post(scheduler& to) noexcept { ++to.expected_posts_; }
  static void expected_post_came(scheduler& to) noexcept { --to.expected_posts_; }
  [[nodiscard]] static bool on_own_thread(const scheduler& its) noexcept {
    return its.on_own_thread();
  }
  /// Ends the program with a message on another thread, which `does` something that it may not.
  static void require_own_thread(const scheduler& its, const char* does) noexcept {
    its.require_own_thread(does);
  }
  [[nodiscard]] static stop_handle stopper_of(const detail::strand_block& strand) {
    return strand.owner->stopper_of(strand);
  }

  // Parking the running strand, and suspending a fiber.

  /// The running strand gives way: it is ready, and stays so.
  static void requeue(detail::strand_block& strand) {
    detail::this_scheduler()->ready_.push(strand);
  }
  /// The running strand runs again when `poll` holds at its turn.
  static void poll(detail::strand_block& strand, const detail::poll_function& poll) {
    strand.status = detail::strand_status::polling;
    strand.poll = &poll;
    strand.owner->ready_.push(strand);
  }
  /// Wakes the waiting strand at `at`, unless it was woken before: reason `timed_out`.
  static void wake_at(detail::strand_block& strand, time_point at) {
    strand.owner->timers_.add(strand, at);
  }
  /// Like wake_at(), unless the strand is to be woken by then already, or `at` is
  /// time_point::max(), which never comes: then it returns false. A strand that was to be woken
  /// later is woken at `at` instead.
  static bool wake_before(detail::strand_block& strand, time_point at);
  /// The strand's wait is not limited in time any more.
  static void drop_timer(detail::strand_block& strand) noexcept {
    if (strand.timed) strand.owner->timers_.remove(strand);
  }
  /// Switches from the running fiber, which has been parked, to what is next.
  [[gnu::always_inline]] static void leave_fiber(detail::strand_block& self) {
    scheduler& owner = *detail::this_scheduler();
    owner.ready_.fetch_ahead();
    owner.switch_fiber(self, owner.next(&self));
  }
  /// Puts the running fiber at the end of the ready queue and switches to what is next.
  [[gnu::always_inline]] static void give_way(detail::strand_block& self) {
    scheduler& owner = *detail::this_scheduler();
    owner.ready_.fetch_ahead();
    detail::strand_block* to;
    if (--owner.turns_ == 0 || owner.ready_.empty()) [[unlikely]] {
      owner.ready_.push(self);
      to = owner.next_slow(&self);
    } else {
      to = &owner.ready_.rotate(self);
      if (!detail::may_run(to->status)) [[unlikely]] {
        to = owner.next_special(*to);
      }
    }
    owner.switch_fiber(self, to);
  }

  /// From now on new strands inherit the context of the strand that spawns them.
  static void has_contexts(scheduler& its) noexcept { its.is_told_of_spawns_ = true; }
  /// Tells `watch` of each turn; null: nobody. Returns the one that was told before.
  static detail::watch* set_watch(scheduler& its, detail::watch* watch) noexcept {
    its.turns_ = 1;
    return std::exchange(its.watch_, watch);
  }

  // The order of turns.

  /// Whether `strand` is in the ready queue.
  [[nodiscard]] static bool queued(const detail::strand_block& strand) noexcept {
    return strand.owner->ready_.holds(strand);
  }
  /// Runs `strand`, which is queued, before all others.
  static void run_next(detail::strand_block& strand) noexcept {
    scheduler& owner = *strand.owner;
    owner.ready_.remove(strand);
    owner.named_ = &strand;
    owner.turns_ = 1;
  }
  /// Looks at the timers before the next strand runs: for those who give way after a long time.
  static void look_at_timers(scheduler& its) noexcept { its.turns_ = 1; }
  /// The number of a strand that has not ended: 1 for the first one spawned.
  [[nodiscard]] static std::uint64_t id(const detail::strand_block& strand) noexcept {
    return strand.owner->all_.id(strand);
  }
  /// The strand of that number; null if it has ended, or moved away.
  [[nodiscard]] static detail::strand_block* find(const scheduler& its,
                                                  std::uint64_t number) noexcept {
    return its.all_.find(number);
  }
  /// The number of the strand that runs; detail::outside if none does.
  [[nodiscard]] static std::uint64_t running_number() noexcept {
    const detail::strand_block* const running = detail::this_strand();
    return running != nullptr ? id(*running) : detail::outside;
  }

  // For reactors.

  /// Asks `events` from now on; it stays until it is detached or the scheduler is gone. Throws
  /// std::logic_error if there is one already.
  static void attach(scheduler& its, reactor& events);
  static void detach(scheduler& its, const reactor& events) noexcept {
    if (its.reactor_ == &events) its.reactor_ = nullptr;
  }
  /// Null if there is none.
  [[nodiscard]] static reactor* attached_reactor(const scheduler& its) noexcept {
    return its.reactor_;
  }

  // Strands that move to another scheduler.

  /// Whether no handle, joiner, scope or context refers to the strand, so that it can move.
  [[nodiscard]] static bool can_move(const detail::strand_block& strand) noexcept {
    if (strand.references != 1) return false;
    const detail::strand_extra* const rare = strand.rare;
    return rare == nullptr || (rare->joiners.empty() && rare->parent == nullptr &&
                               (rare->attached == nullptr || rare->attached->context == nullptr));
  }
  /// Has the running strand continue in another scheduler: `carrier` brings it there once it has
  /// switched away. For awaitables' park(); afterwards the strand has to suspend.
  static void move_away(detail::strand_block& strand, detail::strand_carrier& carrier) noexcept {
    scheduler& owner = *strand.owner;
    strand.status = detail::strand_status::leaving;
    owner.leaving_ = {&strand, &carrier};
    owner.turns_ = 1;  // next() is to see it
  }
  /// Suspends the running fiber after move_away(), instead of leave_fiber().
  [[gnu::noinline]] static void leave_for_good(detail::strand_block& self);
  /// Moves a strand away at once: one that is in the ready queue and does not run.
  static void send(detail::strand_block& strand, detail::strand_carrier& carrier) noexcept {
    strand.owner->send(strand, carrier);
  }
  /// Adopts a strand that has moved away from another scheduler: it is ready.
  static void arrive(scheduler& at, detail::strand_block& strand) { at.arrive(strand); }

  // For groups of schedulers.

  /// The group of a scheduler; null if it runs alone.
  [[nodiscard]] static detail::scheduler_group* group(const scheduler& its) noexcept {
    return its.group_;
  }
  static void join_group(scheduler& joining, detail::scheduler_group& group) noexcept {
    joining.group_ = &group;
  }
  /// Runs strands until nothing can run, and the group's rest() has said that nothing will. Returns
  /// the exception of a strand that nobody has joined, if any.
  [[nodiscard]] static std::exception_ptr run(scheduler& its) {
    its.run_strands();
    return its.take_unhandled();
  }
  /// Destroys those that have not ended, as the scheduler's destructor does. While it does not run.
  static void destroy_strands(scheduler& its) noexcept { its.destroy_strands(); }
  /// Whether no strand but the running one is ready, and none waits in the reactor.
  [[nodiscard]] static bool is_idle(const scheduler& its) noexcept {
    return its.ready_.empty() &&
           (its.reactor_ == nullptr || its.reactor_->expected() == reactor::expectation::nothing);
  }
  /// Counts a turn that takes no switch. Returns false, and counts none, if timers have to be
  /// looked at first.
  [[nodiscard]] static bool count_turn(scheduler& its) noexcept {
    if (its.turns_ <= 1) return false;
    --its.turns_;
    return true;
  }
  /// So many turns pass until timers are looked at.
  static void set_turns(scheduler& its, std::uint32_t count) noexcept { its.turns_ = count; }
  [[nodiscard]] static bool has_due_timer(const scheduler& its) noexcept {
    return !its.timers_.empty() && its.timers_.earliest() <= its.now();
  }
  /// Whether a recorder is told of each turn.
  [[nodiscard]] static bool announces(const scheduler& its) noexcept { return its.announcer_.on; }
  [[nodiscard]] static const detail::ready_queue& ready_queue(const scheduler& its) noexcept {
    return its.ready_;
  }
  /// Throws std::invalid_argument if no fiber's stack can have that size.
  static void require_fiber_size(const scheduler& its, stack_size wanted) {
    static_cast<void>(its.fiber_size(wanted));
  }
};

}  // namespace heddle::coop
