#include "operation_queue.hpp"

namespace heddle::coop::io::detail {

bool operation_queue::remove(operation& unwanted) noexcept {
  operation* before = nullptr;
  for (operation* each = first_; each != nullptr; before = each, each = each->next) {
    if (each != &unwanted) continue;
    (before != nullptr ? before->next : first_) = each->next;
    if (last_ == each) last_ = before;
    return true;
  }
  return false;
}

}  // namespace heddle::coop::io::detail
