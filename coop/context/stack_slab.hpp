#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/coop/context/stack.hpp"

namespace heddle::coop::detail {

/// The system call that makes guards.
enum class guard_method : std::uint8_t {
  install,  // MADV_GUARD_INSTALL: a mark in the page table; the mapping stays one
  protect,  // mprotect: splits the mapping, two a stack
};

/// The layout of a slab's stacks: `slot_bytes` apart, each slot beginning with its guard.
struct stack_shape {
  std::size_t stack_bytes;   // usable, a power of two
  std::size_t guard_bytes;   // a page, or 0
  std::size_t colour_bytes;  // the tops are spread over so many bytes
  std::size_t slot_bytes;

  static stack_shape of(std::size_t stack_bytes, stack_guard guard) noexcept;
};

/// One mapping, cut into stacks of one shape. Not thread-safe; the pool is.
class stack_slab {
 public:
  static constexpr std::size_t line_bytes = 64;

  /// Throws std::system_error if the kernel maps no more.
  stack_slab(const stack_shape& shape, std::size_t slots);
  ~stack_slab();
  stack_slab(const stack_slab&) = delete;
  stack_slab& operator=(const stack_slab&) = delete;

  struct piece {
    std::byte* bottom;
    std::byte* top;
  };

  /// The stack given back last, or else one that was never used, whose guard is made now; it has
  /// null for `bottom`, and errno is set, if that fails. Not to be called when full().
  piece take(guard_method method) noexcept;
  void give_back(std::byte* bottom) noexcept;

  [[nodiscard]] bool full() const noexcept { return used_ == slots_; }
  [[nodiscard]] bool unused() const noexcept { return used_ == 0; }
  [[nodiscard]] std::size_t bytes() const noexcept { return shape_.slot_bytes * slots_; }

 private:
  [[nodiscard]] piece piece_of(std::size_t slot) const noexcept;

  stack_shape shape_;
  std::size_t slots_;
  std::size_t used_ = 0;
  std::size_t fresh_ = 0;            // slots from here on were never handed out
  std::vector<std::uint32_t> free_;  // has the room for all; the last is the hottest
  std::byte* base_;
};

std::size_t page_bytes() noexcept;

}  // namespace heddle::coop::detail
