#include "heddle/coop/detail/strand_registry.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace heddle::coop::detail {

// The entries are in the order of their numbers, also those of strands that have ended.
strand_block* strand_registry::find(std::uint64_t id) const noexcept {
  const entry* const begin = entries_.get();
  const entry* const end = begin + used_;
  const entry* const found = std::lower_bound(
      begin, end, id, [](const entry& each, std::uint64_t wanted) { return each.id < wanted; });
  return found != end && found->id == id ? found->strand : nullptr;
}

// Moves those that are alive together, into more memory unless a quarter have ended: at least a
// quarter of the room is free then, so that this is called once in so many strands.
void strand_registry::make_room() {
  constexpr std::uint32_t least = 64;
  constexpr std::uint32_t most = std::uint32_t{1} << 31;
  const bool grow = alive_ >= capacity_ / 4 * 3;
  if (grow && capacity_ == most) throw std::length_error("a scheduler has room for 2^31 strands");
  const std::uint32_t capacity = grow ? std::max(least, 2 * capacity_) : capacity_;
  auto entries = std::make_unique_for_overwrite<entry[]>(capacity);
  std::uint32_t count = 0;
  for_each([&](const entry& each) {
    entries[count] = each;
    each.strand->place = count;
    ++count;
  });
  entries_ = std::move(entries);
  drop_back_to(count);
  capacity_ = capacity;
}

}  // namespace heddle::coop::detail
