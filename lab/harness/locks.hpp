#pragma once

#include "harness/counters.hpp"

namespace heddle::lab {

/// A mutex whose lock operations are counted, and those that had to wait.
template <class Mutex>
class counting {
 public:
  void lock() {
    counters& mine = count();
    ++mine.p_operations;
    if (mutex_.try_lock()) return;
    ++mine.blocked_p_operations;
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  /// Only for a shared mutex.
  void lock_shared() {
    counters& mine = count();
    ++mine.p_operations;
    if (mutex_.try_lock_shared()) return;
    ++mine.blocked_p_operations;
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

  Mutex& mutex() noexcept { return mutex_; }

 private:
  Mutex mutex_;
};

}  // namespace heddle::lab
