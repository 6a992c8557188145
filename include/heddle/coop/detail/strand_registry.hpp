#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop::detail {

/// The strands of a scheduler that have not ended, in the order they were spawned: 16 bytes for
/// each. Adding and removing take constant time, amortised, and touch no other strand, as a linked
/// list would.
///
/// Invariant: the entry at a strand's `place` is its own; the others' strand is null.
class strand_registry {
 public:
  struct entry {
    strand_block* strand;
    std::uint64_t id;  // 1 for the first one spawned
  };

  [[nodiscard]] std::size_t size() const noexcept { return alive_; }

  void add(strand_block& strand) {
    if (used_ == capacity_) [[unlikely]] {
      make_room();
    }
    strand.place = used_;
    ++used_;
    entries_[used_ - 1] = {&strand, before_ + used_};
    ++alive_;
  }

  void remove(const strand_block& strand) noexcept {
    entries_[strand.place].strand = nullptr;
    if (--alive_ == 0) drop_back_to(0);
  }

  /// Not if there is none.
  [[nodiscard]] strand_block& youngest() noexcept {
    while (entries_[used_ - 1].strand == nullptr) drop_back_to(used_ - 1);
    return *entries_[used_ - 1].strand;
  }
  [[nodiscard]] std::uint64_t id(const strand_block& strand) const noexcept {
    return entries_[strand.place].id;
  }

  /// The strand of that number; null if it has ended. O(log n).
  [[nodiscard]] strand_block* find(std::uint64_t id) const noexcept;

  /// `visit(entry)` for each, the oldest first.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t i = 0; i < used_; ++i) {
      if (entries_[i].strand != nullptr) visit(entries_[i]);
    }
  }

 private:
  void make_room();
  void drop_back_to(std::uint32_t used) noexcept {
    before_ += used_ - used;
    used_ = used;
  }

  std::unique_ptr<entry[]> entries_;
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t alive_ = 0;
  std::uint64_t before_ = 0;  // the next strand's number is this, the entries in use, and 1
};

}  // namespace heddle::coop::detail
