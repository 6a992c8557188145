#include "heddle/coop/scheduler.hpp"

#include <algorithm>

namespace heddle::coop {

using detail::current_strand;
using detail::fiber_context;
using detail::strand_block;
using detail::strand_kind;
using detail::strand_status;
using detail::wake_reason;

scheduler::scheduler(scheduler_options options)
    : options_(options), random_(options.random_seed.value_or(0)) {
  detail::require_stack_bytes(options.stack_bytes, fiber_context::minimum_stack_bytes(),
                              fiber_context::name);
}

scheduler::~scheduler() {
  if (in_run_) detail::fatal("a scheduler is destroyed by one of its strands");
  // Destructors of strands may wake others; none of them runs again, and none may wait.
  current_strand = nullptr;
  while (newest_ != nullptr) destroy_strand(*newest_);
  if (reactor_ != nullptr) reactor_->scheduler_gone();
}

void scheduler::run() {
  if (in_run_ || current_strand != nullptr) {
    detail::fatal("scheduler::run() is called from a strand; spawn and join instead");
  }
  struct running {
    bool& flag;
    running(bool& in_run, scheduler& self) : flag(in_run) {
      flag = true;
      detail::current_scheduler = &self;
    }
    ~running() {
      flag = false;
      current_strand = nullptr;
      detail::current_scheduler = nullptr;
    }
  };
  {
    const running guard(in_run_, *this);
    for (;;) {
      strand_block* const strand = handed_ != nullptr ? std::exchange(handed_, nullptr) : next();
      if (strand == nullptr) break;
      if (strand->kind == strand_kind::task) {
        run_task(*strand);
      } else {
        run_fiber(*strand);
      }
    }
  }
  if (unhandled_) std::rethrow_exception(std::exchange(unhandled_, nullptr));
  if (alive_ != 0) {
    throw deadlock("deadlock: nothing can run any more, but " + std::to_string(alive_) +
                   (alive_ == 1 ? " strand has" : " strands have") + " not ended\n" + dump());
  }
}

void scheduler::run_task(strand_block& strand) {
  current_strand = &strand;
  strand.started = true;
  std::coroutine_handle<>::from_address(strand.resume_at).resume();
  if (strand.status == strand_status::finished) {
    current_strand = nullptr;
    finish(strand);
  }
}

void scheduler::run_fiber(strand_block& strand) {
  if (strand.runner == nullptr) {
    try {
      start_on(strand, idle_fibers_.empty() ? new_fiber() : *idle_fibers_.back());
    } catch (...) {
      make_ready(strand);  // still there when run() is called again
      throw;
    }
    if (!idle_fibers_.empty() && idle_fibers_.back() == strand.runner) idle_fibers_.pop_back();
  }
  current_strand = &strand;
  fiber_context::switch_to(main_, strand.runner->context);
}

void scheduler::start_on(strand_block& strand, detail::fiber& runner) noexcept {
  strand.started = true;
  strand.runner = &runner;
  runner.job = &strand;
  current_strand = &strand;
}

detail::fiber& scheduler::new_fiber() {
  idle_fibers_.reserve(fibers_.size() + 1);
  fibers_.emplace_back(detail::fiber::make(*this, options_.stack_bytes, options_.stack_guard));
  return *fibers_.back();
}

void scheduler::finish(strand_block& strand) {
  strand.status = strand_status::finished;
  unlink(strand);
  while (!strand.joiners.empty()) wake(*strand.joiners.first());
  strand.clear(strand);
  if (strand.parent != nullptr) {
    strand.parent->child_ended(*strand.parent, strand);
  } else if (strand.error && strand.references == 1 && !unhandled_) {
    unhandled_ = strand.error;
  }
  detail::release(strand);
}

void scheduler::unlink(strand_block& strand) noexcept {
  (strand.older != nullptr ? strand.older->newer : oldest_) = strand.newer;
  (strand.newer != nullptr ? strand.newer->older : newest_) = strand.older;
  --alive_;
}

void scheduler::destroy_strand(strand_block& strand) noexcept {
  leave_all(strand);
  ready_.remove(strand);
  strand.status = strand_status::finished;
  strand.cancelled = true;
  if (detail::fiber* const runner = std::exchange(strand.runner, nullptr)) {
    // From the back, where the fiber of the youngest is as a rule.
    const auto owned = std::find_if(fibers_.rbegin(), fibers_.rend(),
                                    [&](const auto& fiber) { return fiber.get() == runner; });
    owned->swap(fibers_.back());
    fibers_.pop_back();  // unwinds its stack
  }
  strand.clear(strand);
  while (!strand.joiners.empty()) strand.joiners.remove(*strand.joiners.first());
  if (strand.parent != nullptr) strand.parent->child_ended(*strand.parent, strand);
  unlink(strand);
  detail::release(strand);
}

void scheduler::leave_all(strand_block& strand) noexcept {
  for (detail::wait_node* node = strand.waits; node != nullptr; node = node->sibling) {
    if (node->list != nullptr) node->list->remove(*node);
  }
  strand.waits = nullptr;
  if (strand.timer != strand_block::no_timer) timers_.remove(strand);
}

void scheduler::give_up(strand_block& strand, wake_reason reason) {
  detail::wait_node* const node = strand.waits;
  detail::wait_list* const list = node != nullptr ? node->list : nullptr;
  if (strand.status == strand_status::polling) ready_.remove(strand);
  leave_all(strand);
  strand.reason = reason;
  const auto given_up = list != nullptr ? list->given_up() : nullptr;
  if (given_up != nullptr && given_up(*list, *node)) return;
  make_ready(strand);
}

void scheduler::cancel(strand_block& strand) {
  if (!strand.started) {
    ready_.remove(strand);
    strand.cancelled = true;
    finish(strand);
  } else if (strand.status != strand_status::ready && !strand.shielded) {
    give_up(strand, wake_reason::cancelled);
  } else {
    strand.cancel_pending = true;
  }
}

std::string scheduler::dump() const {
  std::string text;
  for (const strand_block* strand = oldest_; strand != nullptr; strand = strand->newer) {
    text += "  strand " + std::to_string(strand->id);
    if (!strand->name.empty()) text += " \"" + strand->name + '"';
    if (strand == current_strand) {
      text += " runs";
    } else if (strand->status == strand_status::ready) {
      text += strand->started ? " is ready" : " has not started";
    } else if (strand->status == strand_status::polling) {
      text += " waits for its predicate to hold";
    } else if (strand->waits == nullptr) {
      text += " sleeps";
    } else {
      const char* separator = " waits for ";
      for (const auto* node = strand->waits; node != nullptr; node = node->sibling) {
        if (node->list == nullptr) continue;
        text += separator;
        text += node->list->kind();
        if (!node->list->name().empty()) text += " \"" + node->list->name() + '"';
        separator = " or ";
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace heddle::coop
