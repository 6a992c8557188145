#pragma once

#include <cstddef>

#include "stack_slab.hpp"

namespace heddle::coop::detail {

/// Where the slabs are, for the handler of SIGSEGV: look-ups take no lock and allocate nothing.
class slab_registry {
 public:
  /// Throws std::bad_alloc.
  static void add(std::byte* base, std::size_t bytes, const stack_shape& shape);
  static void remove(const std::byte* base) noexcept;

  struct slot {
    const std::byte* begin;  // null: no slab is there
    const std::byte* end;
    std::size_t guard_bytes;
    std::size_t stack_bytes;
  };
  /// The slot that `address` is in. Async-signal-safe; linear in the number of slabs.
  static slot find(const void* address) noexcept;
};

}  // namespace heddle::coop::detail
