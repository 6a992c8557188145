#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/sync/held_permit.hpp"

namespace heddle::coop {

/// A counting semaphore. Its operations have two names each, the textbooks' and the everyday ones:
/// P and acquire take a permit, V and release give one. First come, first served: a V gives its
/// permit to the strand that has waited the longest, so no other strand can take it in between.
class semaphore {
  // `Scoped`: it results in what gives the permit back.
  template <bool Scoped>
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] basic_p
      : public detail::awaitable<basic_p<Scoped>> {
   public:
    explicit basic_p(semaphore & its_semaphore) noexcept : semaphore_(its_semaphore) {}
    bool ready() const noexcept {
      if (semaphore_.permits_ == 0) return false;
      --semaphore_.permits_;
      ++semaphore_.unblocked_p_count_;
      return true;
    }
    void park(detail::strand_block & self) noexcept {
      ++semaphore_.blocked_p_count_;
      detail::wait_in(self, node_, semaphore_.waiters_);
    }
    auto get() const noexcept {
      if constexpr (Scoped) return held_permit<semaphore>(semaphore_);
    }

   private:
    semaphore& semaphore_;
    detail::wait_node node_;
  };

 public:
  using p_awaitable = basic_p<false>;
  using scoped_p_awaitable = basic_p<true>;

  /// `name` is for the report of a deadlock.
  explicit semaphore(std::uint64_t permits, std::string name = {})
      : permits_(permits), name_(std::move(name)), waiters_("semaphore", name_) {}
  ~semaphore() { detail::end_strands_left(); }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Takes a permit.
  /// Suspends if there is none; made ready by the V that hands it one, inside that call, on this
  /// thread. Destroyed while it waits: it is out of the queue, and no permit is lost.
  p_awaitable P() noexcept { return p_awaitable(*this); }
  p_awaitable acquire() noexcept { return P(); }
  /// The same, and results in a guard that gives the permit back.
  scoped_p_awaitable scoped_acquire() noexcept { return scoped_p_awaitable(*this); }

  /// Takes a permit if there is one.
  [[nodiscard("without a permit nothing was taken")]] bool try_P() noexcept {
    ++unblocked_p_count_;
    if (permits_ == 0) return false;
    --permits_;
    return true;
  }

  [[nodiscard("without a permit nothing was taken")]] bool try_acquire() noexcept {
    return try_P();
  }

  /// Gives a permit. Never waits, and does not switch.
  void V() {
    if (!waiters_.empty()) {
      scheduler_access::wake_first(waiters_);
    } else {
      ++permits_;
    }
  }
  void release() { V(); }

  [[nodiscard]] std::uint64_t permits() const noexcept { return permits_; }
  /// P operations so far, tries included.
  [[nodiscard]] std::uint64_t p_count() const noexcept {
    return unblocked_p_count_ + blocked_p_count_;
  }
  /// P operations that had to wait.
  [[nodiscard]] std::uint64_t blocked_p_count() const noexcept { return blocked_p_count_; }

 private:
  std::uint64_t permits_;
  std::uint64_t blocked_p_count_ = 0;
  // Not beside permits_: GCC 12 makes one vector operation of what P does to both, whose store the
  // next P's load waits for.
  std::uint64_t unblocked_p_count_ = 0;
  std::string name_;
  detail::wait_list waiters_;
};

}  // namespace heddle::coop
