#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::generating {

/// The in-order walk over a balanced binary tree of `items` numbers, one at a time, handed from the
/// walk to a loop outside of it. Node by node the walk goes down and up again: what it costs to
/// leave it in the midst of a recursion, and to come back.
///
/// The tree is that of binary search, its nodes the ranges [first, last]: nothing but the walk
/// touches memory.
///
/// Metrics: `item_ns` = wall / items; `item_cpu_ns` = processor time / items.
class problem {
 public:
  static constexpr std::string_view name = "generator";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t items() const { return items_; }
  /// The loop outside takes an item: they must come in the order 1, 2, 3 …
  void take(std::int64_t item) {
    if (item != taken_ + 1) [[unlikely]] {
      ++out_of_order_;
    }
    taken_ = item;
  }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t items_;
  std::int64_t taken_ = 0;
  std::int64_t out_of_order_ = 0;
};

/// The node in the middle of a range, from which the walk goes to the left and to the right.
[[nodiscard]] inline std::int64_t middle(std::int64_t first, std::int64_t last) {
  return first + (last - first) / 2;
}

}  // namespace heddle::lab::generating
