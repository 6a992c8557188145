#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <mutex>

#include "stack_slab.hpp"

namespace heddle::coop::detail {

/// Stacks by size, for all threads. A slab has twice as many stacks as the one made before it, up
/// to 64 MB; when all of its stacks are free it goes back to the kernel, but for one of each size.
class stack_pool {
 public:
  explicit stack_pool(guard_method method) noexcept : method_(method) {}

  struct piece {
    std::byte* bottom;
    std::byte* top;
    pooled_slab* slab;
  };

  /// The size that a stack of so many bytes really has. Throws std::invalid_argument, as the
  /// constructor of `stack`.
  [[nodiscard]] static std::size_t rounded(std::size_t bytes);

  /// Throws as the constructor of `stack`.
  piece take(std::size_t bytes, stack_guard guard);
  static void give_back(pooled_slab& slab, std::byte* bottom) noexcept;

  /// Bytes of address space that the pool's slabs occupy.
  [[nodiscard]] std::size_t mapped_bytes();

  /// The process's pool. It is never destroyed: objects of static storage duration may have stacks.
  static stack_pool& process();

 private:
  friend pooled_slab;
  struct size_class {
    // Invariant: slabs that have a free stack come before those that have none.
    std::list<pooled_slab> slabs;
    std::size_t unused_slabs = 0;
    std::size_t next_slots = 16;
  };

  void give_back(size_class& sizes, pooled_slab& slab, std::byte* bottom) noexcept;

  std::mutex mutex_;
  guard_method method_;
  std::array<std::array<size_class, 2>, 20> classes_;  // 2 KB … 1 GB; guarded, or not
};

struct pooled_slab {
  pooled_slab(stack_pool& its_pool, stack_pool::size_class& its_class, const stack_shape& shape,
              std::size_t slots)
      : pool(its_pool), sizes(its_class), slab(shape, slots) {}

  stack_pool& pool;
  stack_pool::size_class& sizes;
  stack_slab slab;
  std::list<pooled_slab>::iterator self;
};

}  // namespace heddle::coop::detail
