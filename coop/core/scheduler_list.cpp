#include "heddle/coop/detail/scheduler_list.hpp"

namespace heddle::coop::detail {

// Before any scheduler of static storage, and after.
constinit std::mutex scheduler_list_entry::lock_;
constinit scheduler_list_entry* scheduler_list_entry::newest_ = nullptr;

scheduler_list_entry::scheduler_list_entry(const scheduler& self) : self_(self) {
  const std::lock_guard held(lock_);
  older_ = newest_;
  if (older_ != nullptr) older_->newer_ = this;
  newest_ = this;
}

scheduler_list_entry::~scheduler_list_entry() {
  const std::lock_guard held(lock_);
  (newer_ != nullptr ? newer_->older_ : newest_) = older_;
  if (older_ != nullptr) older_->newer_ = newer_;
}

}  // namespace heddle::coop::detail
