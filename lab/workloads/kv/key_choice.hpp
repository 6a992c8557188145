#pragma once

#include <vector>

#include "harness/random_source.hpp"

namespace heddle::lab::kv {

/// Which keys operations ask for: key k belongs to strand k mod strands, which alone writes it.
///
/// Skewed, the keys of each strand are wanted in the same order, a random one, so that neighbours
/// are not wanted alike.
class key_choice {
 public:
  /// `skew` is the exponent of Zipf's law, 0 for keys that are all wanted alike. At least as many
  /// keys as strands.
  key_choice(int keys, int strands, double skew);

  [[nodiscard]] int any(random_source& random) const;
  /// One that `strand` may write.
  [[nodiscard]] int own(random_source& random, int strand) const;

 private:
  int keys_;
  int strands_;
  // Skewed: sums of the wishes for the most wanted 1, 2, … keys of a strand, and which keys these
  // are, as numbers within the strand. Empty where all are wanted alike.
  std::vector<double> wanted_;
  std::vector<int> place_;
};

}  // namespace heddle::lab::kv
