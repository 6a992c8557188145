#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::coop::detail {

/// Whose turn it is, as a scheduler tells the thread of a watchdog. Neither waits for the other.
///
/// Invariant: `turn_` is even while a strand runs, and the rest says which; odd while none does, or
/// while the rest is written. A reader that finds the same even turn before and after it has read
/// the rest has read what belongs together: the writer's stores are releases, the reader's loads
/// acquires, so none passes the other.
class watch {
 public:
  /// A strand's turn, which is another one if the number is.
  struct turn {
    std::uint64_t number;
    std::uint64_t strand;
    std::string name;  // the first 47 bytes
  };

  // On the scheduler's thread.

  void gives_way() noexcept {
    const std::uint64_t now = turn_.load(std::memory_order_relaxed);
    turn_.store(now | 1U, std::memory_order_relaxed);
  }
  /// After gives_way().
  void takes_turn(std::uint64_t strand, std::string_view name) noexcept;

  // On the watchdog's.

  [[nodiscard]] std::uint64_t number() const noexcept {
    return turn_.load(std::memory_order_relaxed);
  }
  /// Empty if no strand runs, or another one by now.
  [[nodiscard]] std::optional<turn> look() const;

 private:
  std::atomic<std::uint64_t> turn_{1};
  std::atomic<std::uint64_t> strand_{0};
  std::array<std::atomic<std::uint64_t>, 6> name_{};  // ends with a zero byte
};

}  // namespace heddle::coop::detail
