#pragma once

#include <cstddef>

namespace heddle::coop {

/// A stack for one context: a private mapping whose pages are committed on first touch, with a
/// guard page below it, so that an overflow faults instead of writing over a neighbour.
class stack {
 public:
  /// The least size that leaves room for a signal frame, lazy symbol binding and an unwinder at
  /// once (each saves the vector registers, up to 2.7 KB with AVX-512).
  static constexpr std::size_t minimum_bytes = 16 * 1024;

  /// No stack: that of a blank context, which runs on the one it was made on.
  constexpr stack() noexcept = default;

  /// `bytes` usable bytes, rounded up to whole pages.
  /// Throws std::invalid_argument below minimum_bytes, std::system_error when the kernel has no
  /// more mappings or memory to give; both messages say what to do.
  explicit stack(std::size_t bytes);
  ~stack();

  stack(const stack&) = delete;
  stack& operator=(const stack&) = delete;

  /// Where the stack starts: 16-byte aligned, just above the first usable byte.
  ///
  /// Coloured: successive stacks start at different cache lines of their top page. Starting all at
  /// the same page offset puts a thousand stacks into the same few cache sets (4x slower switches).
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

 private:
  std::byte* bottom_ = nullptr;
  std::byte* top_ = nullptr;
  std::size_t mapped_ = 0;  // guard page included
};

}  // namespace heddle::coop
