#include "heddle/coop/detail/strands_left.hpp"

#include <mutex>

namespace heddle::coop::detail {
namespace {

// This lock guards the list of all noted objects, whichever thread each belongs to.
constinit std::mutex lock;
constinit strands_left* newest = nullptr;

}  // namespace

void strands_left::note() noexcept {
  if (noted_) return;
  noted_ = true;
  const std::lock_guard held(lock);
  next_ = newest;
  newest = this;
  count_.fetch_add(1, std::memory_order_relaxed);
}

void strands_left::forget() noexcept {
  if (!noted_) return;
  noted_ = false;
  const std::lock_guard held(lock);
  strands_left** place = &newest;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void strands_left::end_own() noexcept {
  const auto first_own = []() noexcept {
    const std::lock_guard held(lock);
    strands_left* each = newest;
    while (each != nullptr && !each->thread_.runs()) each = each->next_;
    return each;
  };
  while (strands_left* const own = first_own()) {
    own->forget();  // first: what the strands destroy asks for the same
    own->end_(own->of_);
  }
}

}  // namespace heddle::coop::detail
