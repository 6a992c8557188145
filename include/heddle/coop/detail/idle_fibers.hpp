#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/detail/fiber.hpp"

namespace heddle::coop::detail {

/// A scheduler's fibers that have no strand, by the size of their stacks; the one that became idle
/// last is taken first. Constant time.
class idle_fibers {
 public:
  /// One of that size, as in fiber::size; null if there is none.
  [[nodiscard]] fiber* take(std::size_t size) noexcept {
    std::vector<fiber*>& idle = sized_for(size).idle;
    if (idle.empty()) return nullptr;
    fiber* const taken = idle.back();
    idle.pop_back();
    return taken;
  }

  /// Before a fiber is made: so that add() needs no memory. Throws std::bad_alloc.
  void make_room(std::size_t size) {
    sized& all = sized_for(size);
    if (all.idle.capacity() <= all.made) all.idle.reserve(2 * all.made + 1);
    ++all.made;
  }
  /// When a fiber goes, which is not idle.
  void forget(std::size_t size) noexcept { --sized_for(size).made; }
  void add(fiber& idle) noexcept { sized_for(idle.size).idle.push_back(&idle); }

 private:
  struct sized {
    std::size_t made = 0;  // idle or not, at least
    std::vector<fiber*> idle;
  };
  static constexpr int smallest = std::countr_zero(stack::minimum_bytes);
  static constexpr int largest = std::countr_zero(stack::maximum_bytes);

  // The scheduler's own size, 0, comes first; the others are powers of two.
  sized& sized_for(std::size_t size) noexcept {
    const int index = size == 0 ? 0 : std::countr_zero(size) - smallest + 1;
    return sizes_[static_cast<std::size_t>(index)];
  }

  std::array<sized, largest - smallest + 2> sizes_;
};

}  // namespace heddle::coop::detail
