#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

/// Where a fixed number of strands wait for each other, again and again.
class barrier {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] arrive_awaitable
      : public detail::awaitable<arrive_awaitable> {
   public:
    explicit arrive_awaitable(barrier & at) noexcept : at_(at) {}
    bool ready() {
      if (at_.waiters_.empty()) at_.waiters_.count = 0;  // all may have been destroyed
      if (at_.waiters_.count + 1 < at_.strands_) return false;
      at_.waiters_.count = 0;
      while (!at_.waiters_.empty()) scheduler_access::wake(*at_.waiters_.first());
      last_ = true;
      return true;
    }
    void park(detail::strand_block & self) noexcept {
      ++at_.waiters_.count;
      detail::wait_in(self, node_, at_.waiters_);
    }
    bool get() const noexcept { return last_; }

   private:
    barrier& at_;
    detail::wait_node node_;
    bool last_ = false;
  };

  /// For that many strands, at least one. `name` is for the report of a deadlock.
  explicit barrier(std::size_t strands, std::string name = {})
      : strands_(strands), name_(std::move(name)), waiters_("barrier", name_, &given_up) {}
  ~barrier() { detail::end_strands_left(); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Waits until all have arrived; true for the last one, which goes on without waiting.
  /// Suspends all others; made ready by the last one, inside its wait, on this thread. Timed out,
  /// cancelled or destroyed while it waits: it takes its arrival back.
  arrive_awaitable arrive_and_wait() noexcept { return arrive_awaitable(*this); }

 private:
  struct arrivals : detail::wait_list {
    using wait_list::wait_list;
    std::size_t count = 0;  // of those in it
  };
  static bool given_up(detail::wait_list& list, detail::wait_node&) {
    --static_cast<arrivals&>(list).count;
    return false;
  }

  std::size_t strands_;
  std::string name_;
  arrivals waiters_;
};

}  // namespace heddle::coop
