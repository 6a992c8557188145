#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::coop {

namespace detail {
struct pooled_slab;
}

/// The memory below a stack.
enum class stack_guard : std::uint8_t {
  page,  // an inaccessible page: an overflow ends the program with a message that names the strand
  none,  // the next stack: an overflow writes over it. For stacks smaller than a page
};

/// The stack size of a fiber, in bytes; 0: that of the scheduler's other fibers.
struct stack_size {
  std::size_t bytes = 0;
};

/// A stack for one context, out of a slab of stacks of its size. Pages are committed on first
/// touch. The stack freed last is used first: it is still in the cache.
///
/// Sizes are rounded up to powers of two, which costs address space, not memory. With a guard a
/// stack that is alive takes the pages it has touched, at least one, and 8 bytes of page table for
/// each page of its size; without one, it takes what it touches of its size and 192 bytes.
///
/// Guards are installed by MADV_GUARD_INSTALL, so that stacks are bounded by memory alone. Before
/// Linux 6.13 they are made by mprotect, two mappings a stack: `sysctl vm.max_map_count` is the
/// bound then, 32 700 stacks by default, and the exception says so. A frame larger than a page can
/// step over the guard: compile with -fstack-clash-protection if there are such.
class stack {
 public:
  /// The smallest stack. Below safe_bytes, nothing on it may take a signal (without SA_ONSTACK) or
  /// call a function of a shared library for the first time; what is thrown needs 2 KB.
  static constexpr std::size_t minimum_bytes = 2 * 1024;

  /// The least size that leaves room for a signal frame, lazy symbol binding and an unwinder at
  /// once (the first two save the vector registers, up to 2.7 KB each with AVX-512).
  static constexpr std::size_t safe_bytes = 16 * 1024;

  static constexpr std::size_t maximum_bytes = std::size_t{1} << 30;

  /// Room for take_from_top(), alignment included, that does not count as the stack's. An odd
  /// number of cache lines: see top().
  static constexpr std::size_t header_bytes = 3 * 64;

  /// No stack: that of a blank context, which runs on the one it was made on.
  constexpr stack() noexcept = default;

  /// At least `bytes` usable bytes, and above them header_bytes.
  /// Throws std::invalid_argument outside of minimum_bytes … maximum_bytes, std::system_error when
  /// the kernel has no more mappings or memory to give; the messages say what to do.
  explicit stack(std::size_t bytes, stack_guard guard = stack_guard::page);
  ~stack();

  stack(stack&& other) noexcept
      : bottom_(std::exchange(other.bottom_, nullptr)),
        top_(std::exchange(other.top_, nullptr)),
        slab_(std::exchange(other.slab_, nullptr)),
        valgrind_id_(other.valgrind_id_) {}
  stack& operator=(stack&&) = delete;

  /// Where the stack starts: 16-byte aligned, just above the first usable byte.
  ///
  /// Coloured: neighbouring stacks start at different cache lines of their top page. Starting all
  /// at the same page offset puts a thousand stacks into the same few cache sets (5x slower
  /// switches).
  [[nodiscard]] std::byte* top() const noexcept { return top_; }

  /// The lowest usable byte.
  [[nodiscard]] std::byte* bottom() const noexcept { return bottom_; }

  /// From bottom() to top().
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(top_ - bottom_);
  }

  [[nodiscard]] bool contains(const void* address) const noexcept {
    return address >= bottom_ && address < top_;
  }

  /// Takes `bytes` off the top, for what belongs to the context: beside its first frame, they share
  /// a page with it and often a cache line. `alignment` is a power of two, at least 16.
  [[nodiscard]] void* take_from_top(std::size_t bytes, std::size_t alignment) noexcept {
    const auto lowered = (reinterpret_cast<std::uintptr_t>(top_) - bytes) & ~(alignment - 1);
    top_ = reinterpret_cast<std::byte*>(lowered);
    return top_;
  }

 private:
  std::byte* bottom_ = nullptr;
  std::byte* top_ = nullptr;
  detail::pooled_slab* slab_ = nullptr;
  unsigned valgrind_id_ = 0;
};

}  // namespace heddle::coop
