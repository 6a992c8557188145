#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::group_speed {

/// Measures the cost of two processors' waits for each other, one row at a time, with nothing else
/// in the loop. Two flows of control, the sides 0 and 1, are each on a processor of their own.
/// - `handoff`: each wakes the other and waits, `count` times; an operation is one hand-over, and
///   neither side ever has anything else to do.
/// - `request`: side 0 asks and waits, side 1 answers, `count` times; an operation is one of them,
///   which is two hand-overs, or two messages. Between two processes, too.
/// - `wake`: side 0 waits long enough for side 1 to sleep, then wakes it, `count` times; `wake_ns`
///   is the median of the times from there until side 1 runs. An operation is one of them.
/// - `move`: one strand goes from one processor to the other and back, `count` moves; an operation
///   is one. A thread asks the kernel to be moved.
///
/// Metrics: `op_ns` = wall / operations, `op_cpu_ns`, `wake_ns` (wake only).
class problem {
 public:
  static constexpr std::string_view name = "group-speed";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] const std::string& row() const { return row_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The turns of both sides together.
  [[nodiscard]] std::int64_t turns() const { return row_ == "request" ? 2 * count_ : count_; }

  /// A turn of that side: its places are those of the same parity, in ascending order.
  void take_turn(std::size_t side, std::int64_t place) {
    auto& [next, wrong] = sides_[side];
    if (place != next) [[unlikely]] {
      ++wrong;
    }
    next = place + 2;
  }

  /// Pause of side 0 before it wakes the other side: longer than any side polls before it sleeps.
  static constexpr std::int64_t pause_ns = 300'000;
  /// Before the other side is woken; and there, when it runs. The next pause begins when it has.
  void about_to_wake() { wake_began_ = now_ns(); }
  void woke() { wake_ns_.push_back(now_ns() - wake_began_); }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // What each side writes is on lines of its own: the hand-over is to be the only thing they share.
  struct alignas(128) progress {
    std::int64_t next;
    std::int64_t wrong = 0;
  };

  std::string row_;
  std::int64_t count_;
  std::array<progress, 2> sides_{progress{0}, progress{1}};
  std::uint64_t wake_began_ = 0;
  std::vector<std::uint64_t> wake_ns_;
};

}  // namespace heddle::lab::group_speed
