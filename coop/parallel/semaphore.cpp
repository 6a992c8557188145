#include "heddle/coop/parallel/semaphore.hpp"

#include <mutex>

namespace heddle::coop::parallel {

void semaphore::park(detail::remote_wait& wait, coop::detail::strand_block& self) {
  wait.park(self);
  std::unique_lock held(lock_);
  if (queue_.empty()) {
    // From here on every V comes to the lock. The permits given before that, we see; those given
    // later we leave to their V: it would find us gone, and perhaps the semaphore, too. So also
    // where strands were queued that have all given up: what there is then, a V is to bring.
    const std::uint64_t given = given_.fetch_or(queued, std::memory_order_acq_rel);
    std::uint64_t taken = taken_.load(std::memory_order_acquire);
    while ((given & queued) == 0 && taken < given / one) {
      if (take_number(taken)) {
        given_.fetch_and(~queued, std::memory_order_relaxed);
        held.unlock();
        wait.end_at_once();
        return;
      }
    }
  }
  // Under the lock: who sees the count and comes then is queued behind this one.
  blocked_p_count_.fetch_add(1, std::memory_order_relaxed);
  queue_.append(wait);
}

// Gives what permits there are to those that are queued.
void semaphore::hand_over() noexcept {
  detail::granted_waits granted;
  {
    const std::lock_guard held(lock_);
    // One who looked before the first strand was queued may still take a permit.
    std::uint64_t taken = taken_.load(std::memory_order_acquire);
    while (!queue_.empty() && taken < given_.load(std::memory_order_acquire) / one) {
      if (!take_number(taken)) continue;
      ++taken;
      granted.add(queue_.pop());
    }
    if (queue_.empty()) given_.fetch_and(~queued, std::memory_order_relaxed);
  }
  granted.grant();
}

}  // namespace heddle::coop::parallel
