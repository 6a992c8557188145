#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace heddle::lab {

/// Random numbers for problems that are the same in every language: the distributions of standard
/// libraries differ.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}

  /// A number below `count`, which is less than 2^32.
  std::uint64_t below(std::uint64_t count) { return (engine_() >> 32) * count >> 32; }
  /// A number from 0 to below 1.
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// The numbers below `count` in random order.
  std::vector<int> permutation(std::size_t count) {
    std::vector<int> order(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(below(i + 1));
      order[i] = order[at];
      order[at] = static_cast<int>(i);
    }
    return order;
  }

 private:
  // Knuth's MMIX generator.
  std::linear_congruential_engine<std::uint64_t, 6364136223846793005U, 1442695040888963407U, 0>
      engine_;
};

}  // namespace heddle::lab
