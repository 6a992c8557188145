#include "heddle/coop/parallel/mutex.hpp"

#include <mutex>

namespace heddle::coop::parallel {

void mutex::park(detail::remote_wait& wait, coop::detail::strand_block& self) {
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

}  // namespace heddle::coop::parallel
