#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/remote_wait.hpp"
#include "heddle/coop/sync/held_permit.hpp"

namespace heddle::coop::parallel {

/// A counting semaphore for strands of several groups, and for other threads. As coop::semaphore:
/// two names for each operation; first come, first served among those that wait.
///
/// A strand that finds no permit, and whose group has nothing else to run, looks out for one for
/// some microseconds before it waits: a hand-over between two groups that both run is one cache
/// line from one processor to the other. Strands of one group alone should use coop::semaphore,
/// which costs a tenth.
///
/// Invariant: taken_ ≤ permits given; where strands are queued, no permit is left for long: a V
/// then hands its permit to the first of them.
class semaphore {
  // `Scoped`: it results in what gives the permit back.
  template <bool Scoped>
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] basic_p
      : public coop::detail::awaitable<basic_p<Scoped>> {
   public:
    explicit basic_p(semaphore & its_semaphore) noexcept : semaphore_(its_semaphore) {}
    bool ready() const noexcept { return semaphore_.take() || semaphore_.take_soon(); }
    void park(coop::detail::strand_block & self) {
      semaphore_.park(wait_.make("semaphore", semaphore_.name_), self);
    }
    auto get() const noexcept {
      if constexpr (Scoped) return held_permit<semaphore>(semaphore_);
    }

   private:
    semaphore& semaphore_;
    detail::made_at_park<detail::remote_wait> wait_;
  };

 public:
  using p_awaitable = basic_p<false>;
  using scoped_p_awaitable = basic_p<true>;

  /// `name` is for the report of a deadlock.
  explicit semaphore(std::uint64_t permits, std::string name = {})
      : given_(permits * one), name_(std::move(name)) {}
  /// It may go as soon as every permit given was taken: the V calls need not have returned.
  ~semaphore() {
    coop::detail::end_strands_left();
    lock_.lock();
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Takes a permit.
  /// Suspends if there is none, also after a short look-out; made ready by the V that hands it one:
  /// inside that call if that is by a strand of its group, else in its own group, soon after, by
  /// the message that the V posts. Timed out or cancelled while the message is under way: the
  /// permit counts. Destroyed while it waits: it is out of the queue, and no permit is lost to
  /// others.
  p_awaitable P() noexcept { return p_awaitable(*this); }
  p_awaitable acquire() noexcept { return P(); }
  /// The same, and results in a guard that gives the permit back.
  scoped_p_awaitable scoped_acquire() noexcept { return scoped_p_awaitable(*this); }

  /// Takes a permit if there is one that no strand waits for. From any thread.
  [[nodiscard("without a permit nothing was taken")]] bool try_P() noexcept { return take(); }
  [[nodiscard("without a permit nothing was taken")]] bool try_acquire() noexcept { return take(); }

  /// Gives a permit. Never waits, and does not switch. From any thread, if groups_options, or the
  /// scheduler_options of a lone scheduler, say so.
  void V() noexcept {
    // Release: what we did before, the one who takes the permit sees.
    if ((given_.fetch_add(one, std::memory_order_acq_rel) & queued) != 0) hand_over();
  }
  void release() noexcept { V(); }

  /// At some moment during the call.
  [[nodiscard]] std::uint64_t permits() const noexcept {
    const std::uint64_t taken = taken_.load(std::memory_order_acquire);
    return given_.load(std::memory_order_acquire) / one - taken;
  }
  /// P operations that have got their permit so far.
  [[nodiscard]] std::uint64_t p_count() const noexcept {
    return taken_.load(std::memory_order_relaxed);
  }
  /// P operations so far that had to wait in the queue.
  [[nodiscard]] std::uint64_t blocked_p_count() const noexcept {
    return blocked_p_count_.load(std::memory_order_relaxed);
  }

 private:
  // given_ counts permits from its second bit on; the first one says that strands are queued. In
  // one word: a V learns of those who wait by the operation that gives.
  static constexpr std::uint64_t queued = 1;
  static constexpr std::uint64_t one = 2;

  bool take() noexcept {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    for (;;) {
      // Acquire: with the V that gave. Read after taken_, so that it is not less.
      const std::uint64_t given = given_.load(std::memory_order_acquire);
      if ((given & queued) != 0 || taken >= given / one) return false;
      if (take_number(taken)) return true;
    }
  }
  // Takes the permit of that number, if it is free; otherwise sets `taken` to the present count.
  bool take_number(std::uint64_t& taken) noexcept {
    return taken_.compare_exchange_weak(taken, taken + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }
  bool take_soon() noexcept {
    group* const here = group::current();
    return here != nullptr && here->spin_for([this] { return take(); });
  }
  void park(detail::remote_wait& wait, coop::detail::strand_block& self);
  void hand_over() noexcept;

  // Two lines, so that each has one side that writes it as a rule: who gives, who takes. A
  // hand-over moves the first line alone. With one between them, and one behind: a processor that
  // fetches a line fetches its neighbour, too, and takes it away from whoever writes it.
  alignas(detail::line_bytes) std::atomic<std::uint64_t> given_;
  detail::spin_lock lock_;  // of the queue; beside it, as only those who wait and their V need it
  detail::wait_queue queue_{lock_};
  std::atomic<std::uint64_t> blocked_p_count_{0};
  [[maybe_unused]] alignas(detail::line_bytes) detail::spare_line between_;
  alignas(detail::line_bytes) std::atomic<std::uint64_t> taken_{0};
  std::string name_;
  [[maybe_unused]] alignas(detail::line_bytes) detail::spare_line behind_;
};

}  // namespace heddle::coop::parallel
