#include "workloads/kv/key_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::lab::kv {
namespace {

constexpr std::uint64_t order_seed = 20'240'506;

}  // namespace

key_choice::key_choice(int keys, int strands, double skew) : keys_(keys), strands_(strands) {
  if (skew == 0) return;
  // The keys that remain when the keys are divided equally among the strands are never chosen.
  const int each = keys / strands;
  double sum = 0;
  for (int rank = 1; rank <= each; ++rank) wanted_.push_back(sum += std::pow(rank, -skew));
  place_.resize(wanted_.size());
  std::iota(place_.begin(), place_.end(), 0);
  std::mt19937_64 random(order_seed);
  std::shuffle(place_.begin(), place_.end(), random);
}

int key_choice::any(std::mt19937_64& random) const {
  if (wanted_.empty()) return std::uniform_int_distribution<int>(0, keys_ - 1)(random);
  return own(random, std::uniform_int_distribution<int>(0, strands_ - 1)(random));
}

int key_choice::own(std::mt19937_64& random, int strand) const {
  if (wanted_.empty()) {
    std::uniform_int_distribution<int> place(0, (keys_ - 1 - strand) / strands_);
    return place(random) * strands_ + strand;
  }
  std::uniform_real_distribution<double> drawn(0, wanted_.back());
  const auto found = std::upper_bound(wanted_.begin(), wanted_.end() - 1, drawn(random));
  return place_[static_cast<std::size_t>(found - wanted_.begin())] * strands_ + strand;
}

}  // namespace heddle::lab::kv
