#pragma once

#include <mutex>

namespace heddle::coop {

class scheduler;

namespace detail {

/// A scheduler's place among all of the process. For debuggers, which find strands that wait by it
/// (coop/gdb/heddle_gdb.py): nothing else points to those.
class scheduler_list_entry {
 public:
  explicit scheduler_list_entry(const scheduler& self);
  ~scheduler_list_entry();
  scheduler_list_entry(const scheduler_list_entry&) = delete;
  scheduler_list_entry& operator=(const scheduler_list_entry&) = delete;

 private:
  static std::mutex lock_;  // of the list
  static scheduler_list_entry* newest_;

  [[maybe_unused]] const scheduler& self_;  // read by debuggers
  scheduler_list_entry* newer_ = nullptr;
  scheduler_list_entry* older_;
};

}  // namespace detail
}  // namespace heddle::coop
