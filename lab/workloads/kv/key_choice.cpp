#include "workloads/kv/key_choice.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::lab::kv {
namespace {

constexpr std::uint64_t order_seed = 20'240'506;

int below(random_source& random, int count) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
}

}  // namespace

key_choice::key_choice(int keys, int strands, double skew) : keys_(keys), strands_(strands) {
  if (skew == 0) return;
  // The keys that remain when the keys are divided equally among the strands are never chosen.
  const int each = keys / strands;
  double sum = 0;
  for (int rank = 1; rank <= each; ++rank) wanted_.push_back(sum += std::pow(rank, -skew));
  place_ = random_source(order_seed).permutation(wanted_.size());
}

int key_choice::any(random_source& random) const {
  if (wanted_.empty()) return below(random, keys_);
  return own(random, below(random, strands_));
}

int key_choice::own(random_source& random, int strand) const {
  if (wanted_.empty()) {
    return below(random, (keys_ - 1 - strand) / strands_ + 1) * strands_ + strand;
  }
  const double drawn = random.share() * wanted_.back();
  const auto found = std::upper_bound(wanted_.begin(), wanted_.end() - 1, drawn);
  return place_[static_cast<std::size_t>(found - wanted_.begin())] * strands_ + strand;
}

}  // namespace heddle::lab::kv
