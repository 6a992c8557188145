#pragma once

#include "heddle/coop/ext/operation.hpp"

namespace heddle::coop::io::detail {

/// Operations in order of their start.
class operation_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] operation* first() const noexcept { return first_; }
  void push(operation& added) noexcept {
    added.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &added;
    last_ = &added;
  }
  operation& pop() noexcept {
    operation& taken = *first_;
    first_ = taken.next;
    if (first_ == nullptr) last_ = nullptr;
    return taken;
  }
  /// Returns whether it was there. O(n).
  bool remove(operation& unwanted) noexcept;

 private:
  operation* first_ = nullptr;
  operation* last_ = nullptr;
};

}  // namespace heddle::coop::io::detail
