#include "heddle/coop/strand.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop::detail {

strand_extra& strand_block::make_extra() {
  rare = new (frame_pool::allocate(sizeof(strand_extra))) strand_extra;
  if (call < block_call::run) call = block_call::run;
  return *rare;
}

void strand_block::drop_extra() noexcept {
  if (rare->unseen) scheduler_access::drop_unseen(*this);
  rare->~strand_extra();
  frame_pool::release(rare, sizeof(strand_extra));
}

void run_guarded(strand_block& strand, void (*code)(strand_block&)) {
  try {
    code(strand);
  } catch (const forced_unwind&) {
    throw;
  } catch (const cancelled&) {
    strand.cancelled = true;
  } catch (...) {
    strand.extra().error = std::current_exception();
  }
}

// A throw costs some thousand instructions for each frame of the stack, and as many strands as are
// alive may be cancelled at once.
bool is_cancellation(const std::exception_ptr& error) noexcept {
#if defined(__GLIBCXX__)
  return error != nullptr && *error.__cxa_exception_type() == typeid(cancelled);
#else
  try {
    if (error != nullptr) std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
  }
  return false;
#endif
}

void fail_by(strand_block& strand, std::exception_ptr error) {
  if (is_cancellation(error)) {
    strand.cancelled = true;
  } else {
    strand.extra().error = std::move(error);
  }
}

void fail_by_taken(strand_block& strand, std::exception_ptr& error) {
  fail_by(strand, std::move(error));
}

std::string ended_name(const strand_block& strand) {
  std::string text = "strand " + std::to_string(strand.number_at_end());
  if (!strand.name().empty()) text.append(" \"").append(strand.name()) += '"';
  return text;
}

void rethrow_error(strand_block& strand) {
  if (const std::exception_ptr error = strand.error()) {
    mark_seen(strand);
    std::rethrow_exception(error);
  }
  if (strand.cancelled) {
    throw strand_cancelled(ended_name(strand) + " was cancelled, so it has no result");
  }
}

void forget_unseen(strand_block& strand) noexcept { scheduler_access::forget_unseen(strand); }

void throw_joined_before(const strand_block& strand) {
  throw std::logic_error(ended_name(strand) +
                         " was joined before, and its result was moved out then: join it once");
}

void awaited_in_vain(bool empty) noexcept {
  const std::string text =
      (current_strand != nullptr ? named(*current_strand) : "code outside of strands") +
      (empty ? " awaits or spawns a task that was moved from, which has nothing to run"
             : " awaits or spawns a task a second time: a task runs once; call its function again "
               "for another");
  fatal(text.c_str());
}

void cancel(strand_block& strand) {
  if (strand.status == strand_status::finished) return;
  if (strand.owner != current_scheduler) [[unlikely]] {
    require_same_group(strand, "cancels");
    scheduler_access::require_own_thread(*strand.owner, "cancels a strand of");
  }
  scheduler_access::cancel(strand);
}

void cancel_child(strand_block& strand) {
  strand_extra& child = strand.extra();
  child.told_by_scope = true;
  if (!std::exchange(child.told_by_context, false)) cancel(strand);
}

std::string named(const strand_block& strand) {
  std::string text = "strand " + std::to_string(scheduler_access::id(strand));
  if (!strand.name().empty()) text.append(" \"").append(strand.name()) += '"';
  return text;
}

bool check_holder(const char* kind, const std::string& name, std::uint64_t holder) noexcept {
  if (current_strand == nullptr) {
    if (being_destroyed != nullptr) return holder == scheduler_access::id(*being_destroyed);
    if (holder != nobody) return true;
  }
  std::string text = current_strand != nullptr ? named(*current_strand) : "code outside of strands";
  text.append(" unlocks ").append(kind);
  text += name.empty() ? " (unnamed)" : " \"" + name + '"';
  if (holder == nobody) {
    text += ", which is not locked: is it unlocked twice?";
  } else if (holder == outside) {
    text += ", which was locked outside of strands: only what has locked it may unlock it";
  } else {
    const strand_block* const strand = scheduler_access::find(*current_strand->owner, holder);
    text += ", which ";
    text += strand != nullptr ? named(*strand)
                              : "strand " + std::to_string(holder) + ", which has ended,";
    text += " has locked: only the strand that has locked it may unlock it";
  }
  fatal(text.c_str());
}

void relocked(const char* kind, const std::string& name) noexcept {
  std::string text = named(*current_strand).append(" locks ").append(kind);
  text += (name.empty() ? " (unnamed)" : " \"" + name + '"') +
          ", which it has locked itself, and would wait for forever: it is not recursive";
  fatal(text.c_str());
}

void destroyed_locked(const char* kind, const std::string& name, std::uint64_t holder) noexcept {
  if (current_strand == nullptr) return;
  const strand_block* const strand = scheduler_access::find(*current_strand->owner, holder);
  if (holder != nobody && strand == nullptr) return;
  std::string text = named(*current_strand).append(" destroys ").append(kind);
  text += (name.empty() ? " (unnamed)" : " \"" + name + '"') + ", which ";
  text += holder == nobody           ? "strands read"
          : strand == current_strand ? "it holds"
                                     : named(*strand) + " holds";
  text += ": a lock has to live until it is unlocked";
  fatal(text.c_str());
}

void require_same_group(const strand_block& strand, const char* what) noexcept {
  if (current_scheduler == nullptr) return;  // while nothing runs, whoever made them may
  const scheduler_group* const its = scheduler_access::group(*strand.owner);
  const scheduler_group* const here = scheduler_access::group(*current_scheduler);
  if (its == nullptr || here == nullptr || its == here) return;
  std::string text = "a strand of group " + std::to_string(here->index()) + ' ' + what + " strand";
  if (!strand.name().empty()) text.append(" \"").append(strand.name()) += '"';
  text += " of group " + std::to_string(its->index()) +
          ", which only strands of that group can; spawn one there that does";
  fatal(text.c_str());
}

void throw_cancelled(strand_block& strand) {
  strand.reason = wake_reason::granted;
  strand.cancel_pending = false;
  throw cancelled{};
}

void end_special_wait(strand_block& strand) {
  strand.shielded = false;
  if (strand.reason == wake_reason::cancelled) throw_cancelled(strand);
}

std::string waited_for(const strand_block& strand) {
  if (strand.status == strand_status::polling) return "its predicate to hold";
  std::string text;
  for (const wait_node* node = strand.waits; node != nullptr; node = strand.next_wait(*node)) {
    if (node->list == nullptr) continue;
    if (!text.empty()) text += " or ";
    text += node->list->kind();
    const std::string& name = node->list->name();
    text += name.empty() ? " (unnamed)" : " \"" + name + '"';
  }
  if (text.empty() && strand.waits != nullptr) return "something that is gone";
  return text;
}

void wait_by_wrong_kind(const strand_block* self, strand_kind wanted) noexcept {
  if (self == nullptr && being_destroyed != nullptr) {
    const std::string text =
        named(*being_destroyed) +
        " waits while it is destroyed with its scheduler: a destructor does, which must not wait "
        "then; or a catch (...) has taken the exception that unwinds the strand, and must rethrow "
        "it";
    fatal(text.c_str());
  }
  if (self == nullptr && offloaded_by != 0) {
    const std::string text =
        "a function given to offload() by strand " + std::to_string(offloaded_by) +
        " waits, but it runs on a thread of a pool, in no strand: let it return, and the strand "
        "waits then; or hand over what there is by scheduler::post() or a parallel::semaphore's "
        "V()";
    fatal(text.c_str());
  }
  if (self == nullptr) {
    fatal(
        "waiting outside of a strand: only what scheduler::spawn() started can wait, while run() "
        "runs it");
  }
  std::string text = named(*self);
  text += wanted == strand_kind::fiber
              ? " is a task and waits by await(), but has no stack to suspend: use co_await there"
              : " waits by co_await on a fiber's stack: use await(x) there, and await(task) for a "
                "coroutine";
  fatal(text.c_str());
}

}  // namespace heddle::coop::detail
