#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::sequence {

/// Where the memory of a generator comes from: its frame, or its stack.
enum class memory {
  source,    ///< as async_simple's benchmark has it: new for each generator
  pooled,    ///< what the generator before has left
  excluded,  ///< one generator, made before the clock starts, gives all items
};

/// Takes the items of one generator, and looks whether they are 0, 1, 2 … It lives in registers:
/// what is timed is the switch.
class taker {
 public:
  void take(std::int64_t item) {
    wrong_ += item != next_;
    ++next_;
  }

 private:
  friend class problem;
  std::int64_t next_ = 0;
  std::int64_t wrong_ = 0;
};

/// Generators that count from 0, one after another; of each, `items` are taken. To give an item is
/// a switch to the generator and one back: "language-level switch" in async_simple's report.
///
/// There the loop over a stackful generator runs in a coroutine itself, and each of the two has a
/// stack of 512 KB from `new`: `memory=source`. Here, and only there, no stack is used twice: what
/// malloc gives is new to the first ones, and how long it stays so depends on its thresholds.
///
/// Metrics: `generator_ns` = wall / generators, which async_simple plots over `items`;
/// `generator_cpu_ns` = processor time / generators, which other programs on a busy machine spoil
/// less; `item_cpu_ns` = the same an item.
class problem {
 public:
  static constexpr std::string_view name = "sequence";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t items() const { return items_; }
  [[nodiscard]] memory from() const { return from_; }
  /// Generators that are run one after another: as many as have `work` items, or `most`.
  [[nodiscard]] std::int64_t generators(
      std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// A model, for each generator: what was taken of it, which is the items of `generators`.
  void finish(const taker& taken, std::int64_t generators = 1);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t items_;
  std::int64_t work_;
  memory from_;
  std::int64_t generators_ = 0;
  std::int64_t taken_ = 0;
  std::int64_t wrong_ = 0;
};

}  // namespace heddle::lab::sequence
