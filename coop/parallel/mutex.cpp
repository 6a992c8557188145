#include "heddle/coop/parallel/mutex.hpp"

#include <mutex>
#include <string>

namespace heddle::coop::parallel {

void mutex::park(detail::remote_wait& wait, coop::detail::strand_block& self) {
  if (holder_.load(std::memory_order_relaxed) == &self) {
    coop::detail::relocked("parallel::mutex", name_);
  }
  wait.park(self);
  std::unique_lock held(lock_);
  std::uint32_t seen = state_.load(std::memory_order_relaxed);
  // Until others come to the lock, by `wanted`; or it is ours.
  while (seen != wanted) {
    const std::uint32_t next = seen == unlocked ? locked : wanted;
    if (!state_.compare_exchange_weak(seen, next, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      continue;
    }
    if (next == locked) {
      held.unlock();
      wait.end_at_once();
      return;
    }
    seen = next;
  }
  queue_.append(wait);
}

// The strand that unlocks does so for the one that is queued first, if they have not all given up.
void mutex::hand_over() noexcept {
  detail::granted_waits granted;
  {
    const std::lock_guard held(lock_);
    if (queue_.empty()) {
      state_.store(unlocked, std::memory_order_release);
      return;
    }
    granted.add(queue_.pop());
    if (queue_.empty()) state_.store(locked, std::memory_order_relaxed);
  }
  granted.grant();
}

void mutex::check_holder() const noexcept {
  const coop::detail::strand_block* const self = coop::detail::current_strand;
  const bool is_locked = state_.load(std::memory_order_relaxed) != unlocked;
  if (self == nullptr && is_locked) return;  // a strand that is being destroyed, for example
  const auto in_group = [](std::string strand, const group* which) {
    return which == nullptr ? strand : strand + " of group " + std::to_string(which->index());
  };
  std::string text = self != nullptr ? in_group(coop::detail::named(*self), group::current())
                                     : "code outside of strands";
  text += " unlocks parallel::mutex";
  text += name_.empty() ? " (unnamed)" : " \"" + name_ + '"';
  if (!is_locked) {
    text += ", which is not locked: is it unlocked twice?";
  } else if (holder_.load(std::memory_order_relaxed) == nullptr) {
    text += ", which code outside of strands has locked, or a strand that is about to continue";
  } else {
    const std::uint64_t number = holder_number_.load(std::memory_order_relaxed);
    const group* const its = holder_group_.load(std::memory_order_relaxed);
    const coop::detail::strand_block* const same_group =
        its == group::current() ? scheduler_access::find(*self->owner, number) : nullptr;
    text += ", which ";
    text += in_group(same_group != nullptr ? coop::detail::named(*same_group)
                                           : "strand " + std::to_string(number),
                     its);
    text += " has locked: only the strand that has locked it may unlock it";
  }
  coop::detail::fatal(text.c_str());
}

}  // namespace heddle::coop::parallel
