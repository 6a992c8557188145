#include "heddle/coop/concurrent.hpp"

#include <atomic>
#include <stdexcept>

#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

namespace {

constinit thread_local concurrent* of_this_thread = nullptr;

void set(bool& flag, bool to) noexcept {
  std::atomic_ref(flag).store(to, std::memory_order_relaxed);
}

}  // namespace

bool detail::slice_is_over() noexcept {
  concurrent* const self = of_this_thread;
  if (self == nullptr || current_strand == nullptr || current_strand->owner != &self->on_) {
    return false;
  }
  if (self->per_slice_ != 0) {
    if (--self->left_ != 0) return false;
    self->left_ = self->per_slice_;
  } else {
    set(slice_flag, false);
  }
  ++self->switches_;
  scheduler_access::look_at_timers(self->on_);
  return true;
}

concurrent::concurrent(scheduler& on) : on_(on) {
  if (of_this_thread != nullptr) {
    throw std::logic_error("there is a `concurrent` on this thread; it has to end before another");
  }
}

concurrent::concurrent(scheduler& on, checkpoints slice) : concurrent(on) {
  if (slice.count == 0) throw std::invalid_argument("a slice must be one checkpoint at least");
  per_slice_ = left_ = slice.count;
  of_this_thread = this;
  set(detail::slice_flag, true);
}

concurrent::concurrent(scheduler& on, duration slice) : concurrent(on) {
  if (slice <= duration::zero()) throw std::invalid_argument("a slice must be longer than nothing");
  if (on.clock() == clock_policy::simulated) {
    throw std::invalid_argument(
        "virtual time stands still while strands run, so a slice would never end: count "
        "checkpoints instead");
  }
  ticker_ = std::thread(&concurrent::tick, this, std::ref(detail::slice_flag), slice);
  of_this_thread = this;
}

concurrent::~concurrent() {
  if (ticker_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    ended_.notify_one();
    ticker_.join();
  }
  set(detail::slice_flag, false);
  of_this_thread = nullptr;
}

void concurrent::tick(bool& flag, duration slice) {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, slice, [this] { return ending_; })) {
    set(flag, true);
  }
}

}  // namespace heddle::coop
