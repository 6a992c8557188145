#include "heddle/coop/scheduler.hpp"

#include "context/stack_overflow.hpp"
#include "context/stack_pool.hpp"
#include "heddle/coop/detail/strand_attachments.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

using detail::block_call;
using detail::current_strand;
using detail::fiber_context;
using detail::strand_block;
using detail::strand_kind;
using detail::strand_status;
using detail::wake_reason;

namespace {

// Called in a signal handler.
detail::named_strand running_strand() noexcept {
  const strand_block* const strand = current_strand;
  if (strand == nullptr) return {};
  return {scheduler_access::id(*strand), strand->name()};
}

}  // namespace

scheduler::scheduler(scheduler_options options)
    : options_(options), random_(options.random_seed.value_or(0)) {
  detail::require_stack_bytes(options.stack_bytes, fiber_context::minimum_stack_bytes(),
                              fiber_context::name);
  detail::name_overflows_by(&running_strand);
  is_told_of_spawns_ = announcer_.on;
}

scheduler::~scheduler() {
  if (in_run_) detail::fatal("a scheduler is destroyed by one of its strands");
  left_.forget();
  close_door();
  destroy_strands();
  while (!unseen_.empty()) forget_unseen(*unseen_.back());
  door_.deliver(nullptr);  // what the strands have posted
  if (reactor_ != nullptr) reactor_->scheduler_gone();
}

// Their destructors may wake others; none of them runs again, and none may wait. A strand of
// another scheduler, which this one lives in, may afterwards.
void scheduler::destroy_strands() noexcept {
  deliver_posts();  // grants that are under way to strands that are to be destroyed
  strand_block* const around = std::exchange(current_strand, nullptr);
  while (all_.size() != 0) destroy_strand(all_.youngest());
  current_strand = around;
  named_ = nullptr;
  handed_ = nullptr;
}

void scheduler::run() {
  require_own_thread("runs");
  if (in_run_ || current_strand != nullptr) {
    detail::fatal("scheduler::run() is called from a strand; spawn and join instead");
  }
  if (group_ != nullptr) {
    detail::fatal("scheduler::run() is called for one of several groups; use groups::run()");
  }
  struct notes_those_left {
    scheduler& its;
    ~notes_those_left() {
      if (its.alive() != 0) its.left_.note();
    }
  };
  left_.forget();
  const notes_those_left at_end{*this};
  run_strands();
  if (!unhandled_ && alive() != 0) {
    throw deadlock("deadlock: nothing can run any more, but " + std::to_string(alive()) +
                   (alive() == 1 ? " strand has" : " strands have") + " not ended\n" + dump() +
                   dump_unseen());
  }
  if (const std::exception_ptr error = take_unhandled()) std::rethrow_exception(error);
}

void scheduler::note_spawned(strand_block& spawned) {
  if (announcer_.on) announce_made(spawned);
  detail::inherit_context(spawned);
}

// Until nothing can run.
void scheduler::run_strands() {
  struct running {
    std::atomic<bool>& flag;
    running(std::atomic<bool>& in_run, scheduler& self) : flag(in_run) {
      flag.store(true, std::memory_order_relaxed);
      detail::current_scheduler = &self;
    }
    ~running() {
      flag.store(false, std::memory_order_relaxed);
      current_strand = nullptr;
      detail::current_scheduler = nullptr;
    }
  };
  const running guard(in_run_, *this);
  for (;;) {
    strand_block* strand = handed_ != nullptr ? std::exchange(handed_, nullptr) : next();
    if (strand != nullptr && strand->kind == strand_kind::task) strand = run_tasks(strand);
    if (strand == nullptr) break;
    run_fiber(*strand);
    if (leaving_.strand != nullptr) [[unlikely]] {
      send_leaving();
    }
  }
}

// Runs tasks until it is a fiber's turn, and returns that fiber's strand; null if no strand is
// ready.
strand_block* scheduler::run_tasks(strand_block* first) {
  strand_block* strand = first;
  do {
    current_strand = strand;
    strand->status = strand_status::ready;
    try {
      std::coroutine_handle<>::from_address(strand->resume_at).resume();
    } catch (...) {  // from making the coroutine; from then on it keeps what it throws
      strand->extra().error = std::current_exception();
      strand->status = strand_status::finished;
    }
    if (strand->status == strand_status::finished) {
      current_strand = nullptr;
      finish(*strand);
    }
    strand = next();
  } while (strand != nullptr && strand->kind == strand_kind::task);
  return strand;
}

void scheduler::run_fiber(strand_block& strand) {
  if (strand.runner == nullptr) {
    try {
      detail::fiber* const idle = idle_fibers_.take(strand.stack_bytes);
      start_on(strand, idle != nullptr ? *idle : new_fiber(strand.stack_bytes));
    } catch (...) {
      ready_.push(strand);  // still there when run() is called again
      throw;
    }
  }
  current_strand = &strand;
  fiber_context::switch_to(main_, strand.runner->context);
}

void scheduler::start_on(strand_block& strand, detail::fiber& runner) noexcept {
  strand.status = strand_status::ready;
  strand.runner = &runner;
  runner.job = &strand;
  current_strand = &strand;
}

detail::fiber& scheduler::new_fiber(std::size_t size) {
  idle_fibers_.make_room(size);
  fibers_.emplace_back(detail::fiber::make(*this, size));
  fibers_.back()->place = static_cast<std::uint32_t>(fibers_.size() - 1);
  return *fibers_.back();
}

std::size_t scheduler::fiber_size(stack_size wanted) const {
  if (wanted.bytes == 0) return 0;
  detail::require_stack_bytes(wanted.bytes, fiber_context::minimum_stack_bytes(),
                              fiber_context::name);
  const std::size_t rounded = detail::stack_pool::rounded(wanted.bytes);
  return rounded == detail::stack_pool::rounded(options_.stack_bytes) ? 0 : rounded;
}

// Finishes a strand that has more than a body, or to which a handle refers.
void scheduler::finish_rare(strand_block& strand) {
  if (detail::being_destroyed == &strand) [[unlikely]] {
    // It has caught the exception that unwinds it and returned. From here it unwinds to its end.
    detail::throw_forced_unwind();
  }
  strand.coroutine = nullptr;  // which has destroyed itself
  const std::uint64_t number = all_.id(strand);
  all_.remove(strand);
  strand.note_end(number);
  detail::strand_extra* const rare = strand.rare;
  if (rare != nullptr) {
    while (!rare->joiners.empty()) scheduler_access::wake_first(rare->joiners);
  }
  strand.ask(block_call::clear);
  if (rare != nullptr && rare->attached != nullptr) detail::drop_attachments(strand);
  if (rare != nullptr && rare->parent != nullptr) {
    rare->parent->child_ended(*rare->parent, strand);
  } else if (rare != nullptr && rare->error) {
    if (strand.references != 1) {
      note_unseen(strand);
    } else if (!unhandled_) {
      unhandled_ = rare->error;
    }
  }
  detail::release(strand);
}

void scheduler::note_unseen(strand_block& failed) {
  failed.rare->child_index = unseen_.size();
  unseen_.push_back(&failed);
  failed.rare->unseen = true;
}

void scheduler::forget_unseen(strand_block& failed) noexcept {
  failed.rare->unseen = false;
  strand_block* const last = unseen_.back();
  last->rare->child_index = failed.rare->child_index;
  unseen_[last->rare->child_index] = last;
  unseen_.pop_back();
}

// Those of which no handle is joined by now: only another run() could do so.
std::exception_ptr scheduler::take_unhandled() noexcept {
  const strand_block* first = nullptr;
  for (const strand_block* const each : unseen_) {
    if (first == nullptr || each->number_at_end() < first->number_at_end()) first = each;
  }
  if (!unhandled_ && first != nullptr) unhandled_ = first->rare->error;
  while (!unseen_.empty()) forget_unseen(*unseen_.back());
  return std::exchange(unhandled_, nullptr);
}

std::string scheduler::dump_unseen() const {
  std::string text;
  for (const strand_block* const each : unseen_) {
    text += "  " + detail::ended_name(*each) + " has ended by an exception, and nobody joins it: ";
    try {
      std::rethrow_exception(each->rare->error);
    } catch (const std::exception& error) {
      text += error.what();
    } catch (...) {
      text += "no std::exception";
    }
    text += '\n';
  }
  return text;
}

void scheduler::destroy_strand(strand_block& strand) noexcept {
  if (announcer_.on) announce_end(strand);
  leave_all(strand);
  ready_.remove(strand);
  strand.status = strand_status::finished;
  strand.cancelled = true;
  strand_block* const around = std::exchange(detail::being_destroyed, &strand);
  if (strand.kind == strand_kind::fiber && strand.runner != nullptr) {
    ++strand.references;  // so that its end, if it does not unwind, takes the way of finish_rare()
    let_go(*std::exchange(strand.runner, nullptr));  // unwinds its stack
    --strand.references;
  }
  strand.ask(block_call::clear);
  if (strand.rare != nullptr && strand.rare->attached != nullptr) drop_attachments(strand);
  detail::being_destroyed = around;
  if (detail::strand_extra* const rare = strand.rare) {
    while (!rare->joiners.empty()) {
      rare->joiners.first()->list = nullptr;  // which goes before those that wait in it
      rare->joiners.remove_first();
    }
    if (rare->parent != nullptr) rare->parent->child_ended(*rare->parent, strand);
  }
  const std::uint64_t number = all_.id(strand);
  all_.remove(strand);
  strand.note_end(number);
  detail::release(strand);
}

void scheduler::leave_all(strand_block& strand) noexcept {
  detail::wait_node* node = strand.status != strand_status::polling ? strand.waits : nullptr;
  for (; node != nullptr; node = strand.next_wait(*node)) {
    if (node->list != nullptr) node->list->remove(*node);
  }
  strand.several = false;
  strand.waits = nullptr;
  if (strand.timed) timers_.remove(strand);
}

// A node of a wait with several, or with a limit in time, was taken out of its list. Returns
// whether the wait is over, and then has taken out what else there is.
bool scheduler::leave_others(detail::wait_node& woken, strand_block& strand) noexcept {
  if (strand.several) {
    woken.list = nullptr;
    std::size_t* const pending = static_cast<detail::several_node&>(woken).pending;
    if (pending != nullptr && --*pending != 0) return false;
  } else {
    strand.waits = nullptr;
  }
  leave_all(strand);
  return true;
}

void scheduler::give_up(strand_block& strand, wake_reason reason) {
  detail::wait_node* const node = strand.status == strand_status::polling ? nullptr : strand.waits;
  detail::wait_list* const list = node != nullptr ? node->list : nullptr;
  if (strand.status == strand_status::polling) ready_.remove(strand);
  leave_all(strand);
  strand.reason = reason;
  const auto given_up = list != nullptr ? list->given_up() : nullptr;
  if (given_up != nullptr && given_up(*list, *node)) return;
  make_ready(strand);
}

void scheduler::cancel(strand_block& strand) {
  if (strand.status == strand_status::unstarted) {
    ready_.remove(strand);
    strand.cancelled = true;
    strand.status = strand_status::finished;
    strand.ask(block_call::clear);  // of a task that was made before it was spawned
    finish(strand);
  } else if (strand.is_waiting() && !strand.shielded) {
    give_up(strand, wake_reason::cancelled);
  } else {
    strand.cancel_pending = true;
  }
}

std::string scheduler::dump() const {
  std::string text;
  all_.for_each([&](const detail::strand_registry::entry& each) {
    const strand_block& strand = *each.strand;
    text += "  " + detail::named(strand);
    if (&strand == current_strand) {
      text += " runs";
    } else if (strand.status == strand_status::ready && !strand.is_waiting()) {
      text += ready_.holds(strand) || &strand == named_ || &strand == handed_
                  ? " is ready"
                  : " was suspended by an awaitable of another library, which this one cannot "
                    "resume";
    } else if (strand.status == strand_status::unstarted) {
      text += " has not started";
    } else if (const std::string reason = detail::waited_for(strand); !reason.empty()) {
      text += " waits for " + reason;
    } else {
      text += " sleeps";
    }
    text += '\n';
  });
  return text;
}

}  // namespace heddle::coop
