#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/coop/detail/fiber.hpp"
#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop::detail {

/// The strands that are ready, in a ring that grows: an array, because a linked list misses the
/// cache once a strand. A strand knows its slot, so that it can be taken out of the middle; the
/// hole that it leaves is skipped.
///
/// Invariant: slots [head, tail) hold a strand whose `slot` is its index modulo 2^32, or the hole.
class ready_queue {
 public:
  ready_queue() : slots_(64, &hole_), mask_(slots_.size() - 1) {
    hole_.status = strand_status::hole;
  }

  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

  void push(strand_block& strand) {
    if (tail_ >= full_at_) [[unlikely]] {
      look_for_room();
    }
    strand.slot = static_cast<std::uint32_t>(tail_);
    slots_[tail_ & mask_] = &strand;
    ++tail_;
  }

  /// To be called before a fiber gives its turn to the first.
  void fetch_ahead() const noexcept {
    if (mask_ >= many) [[unlikely]] {
      prefetch();
    }
  }

  /// The first strand, or a hole, which is not run: its status is not `ready`. Not if empty().
  strand_block& pop_slot() noexcept {
    strand_block* const first = slots_[head_ & mask_];
    ++head_;
    return *first;
  }

  /// Like pop_slot(), and appends `last`.
  strand_block& rotate(strand_block& last) noexcept {
    strand_block& first = pop_slot();  // makes the room for `last`
    last.slot = static_cast<std::uint32_t>(tail_);
    slots_[tail_ & mask_] = &last;
    ++tail_;
    return first;
  }

  /// The first one, or null if there is none.
  strand_block* pop() noexcept {
    while (!empty()) {
      strand_block& first = pop_slot();
      if (&first != &hole_) return &first;
    }
    return nullptr;
  }

  /// The one that `random` chooses, or null if there is none.
  template <class Random>
  strand_block* pop_any(Random& random) noexcept {
    for (;;) {
      while (!empty() && slots_[head_ & mask_] == &hole_) ++head_;
      if (empty()) return nullptr;
      const std::uint64_t chosen = head_ + random() % (tail_ - head_);
      if (slots_[chosen & mask_] == &hole_) continue;
      std::swap(slots_[chosen & mask_], slots_[head_ & mask_]);
      slots_[chosen & mask_]->slot = static_cast<std::uint32_t>(chosen);
      strand_block* const taken = slots_[head_ & mask_];
      ++head_;
      return taken;
    }
  }

  [[nodiscard]] bool holds(const strand_block& strand) const noexcept {
    return static_cast<std::uint32_t>(strand.slot - head_) < tail_ - head_ &&
           slots_[strand.slot & mask_] == &strand;
  }
  /// Nothing if it is not there.
  void remove(const strand_block& strand) noexcept {
    if (holds(strand)) slots_[strand.slot & mask_] = &hole_;
  }

  /// The newest for which `wanted(strand)`, of the `most` newest; null if there is none.
  template <class Wanted>
  [[nodiscard]] strand_block* find_newest(std::uint64_t most, const Wanted& wanted) const {
    const std::uint64_t end = tail_ - head_ > most ? tail_ - most : head_;
    for (std::uint64_t i = tail_; i != end; --i) {
      strand_block* const each = slots_[(i - 1) & mask_];
      if (each != &hole_ && wanted(*each)) return each;
    }
    return nullptr;
  }

  /// At least the number of strands in it.
  [[nodiscard]] std::size_t size_bound() const noexcept { return tail_ - head_; }

 private:
  // From this many slots on, minus one, what fibers touch is fetched ahead of their turn: of 4000
  // and more, nothing of it is in the nearer caches. Of tasks it is: they lie one behind the other,
  // which processors see by themselves.
  static constexpr std::uint64_t many = 4095;
  // Prefetch distances in turns: for a strand's block, then for the fiber that the block names,
  // then for the frame that continues, which the fiber names. Tried out with 100 000 fibers on an
  // AMD Zen 5; twice as many turns ahead are as good, half as many are not.
  static constexpr std::uint64_t prefetch_block = 32;
  static constexpr std::uint64_t prefetch_runner = 20;
  static constexpr std::uint64_t prefetch_frame = 10;

  // Out of line, because it would be there at each wait.
  [[gnu::noinline]] void prefetch() const noexcept {
    asm volatile("");  // GCC drops the call of a function that does nothing but prefetch
    if (tail_ - head_ <= prefetch_block) return;
    __builtin_prefetch(slots_[(head_ + prefetch_block) & mask_], 1);
    const strand_block& far = *slots_[(head_ + prefetch_runner) & mask_];
    if (far.kind == strand_kind::fiber) __builtin_prefetch(far.runner, 1);
    const strand_block& near = *slots_[(head_ + prefetch_frame) & mask_];
    if (near.kind == strand_kind::fiber && near.runner != nullptr) {
      __builtin_prefetch(near.runner->suspended_at(), 1);
    }
  }

  [[gnu::noinline]] void look_for_room() {
    if (tail_ - head_ > mask_) make_room();
    full_at_ = head_ + mask_ + 1;
  }

  // Constant time a push, over many: what is closed up is at least half of all.
  void make_room() {
    std::uint64_t end = head_;
    for (std::uint64_t i = head_; i != tail_; ++i) {
      strand_block* const strand = std::exchange(slots_[i & mask_], &hole_);
      if (strand == &hole_) continue;
      strand->slot = static_cast<std::uint32_t>(end);
      slots_[end++ & mask_] = strand;
    }
    tail_ = end;
    if (2 * (tail_ - head_) > mask_) grow();
  }

  void grow() {
    std::vector<strand_block*> larger(2 * slots_.size(), &hole_);
    const std::uint64_t larger_mask = larger.size() - 1;
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & larger_mask] = slots_[i & mask_];
    slots_ = std::move(larger);
    mask_ = larger_mask;
  }

  strand_block hole_{nullptr, strand_kind::none};
  std::vector<strand_block*> slots_;
  std::uint64_t mask_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  // The slot from which on a push has to look where the head is now; never too far on, because the
  // head only moves on. So most pushes need not know the head.
  std::uint64_t full_at_ = 0;
};

}  // namespace heddle::coop::detail
