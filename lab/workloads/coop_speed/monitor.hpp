#pragma once

#include <cstdint>

namespace heddle::lab::coop_speed {

/// A semaphore for runtimes that have none, of the runtime's mutex and condition variable.
template <class Mutex, class Condition, class Lock>
class monitor_semaphore {
 public:
  explicit monitor_semaphore(int permits) : permits_(permits) {}
  void P() {
    Lock lock(mutex_);
    while (permits_ == 0) given_.wait(lock);
    --permits_;
  }
  void V() {
    Lock lock(mutex_);
    ++permits_;
    given_.notify_one();
  }

 private:
  Mutex mutex_;
  Condition given_;
  std::int64_t permits_;
};

/// A channel with one slot for runtimes that have none, in the same way: the textbooks' bounded
/// buffer.
template <class Mutex, class Condition, class Lock>
class monitor_channel {
 public:
  void push(std::int64_t value) {
    Lock lock(mutex_);
    while (full_) changed_.wait(lock);
    value_ = value;
    full_ = true;
    changed_.notify_one();
  }
  void close() {
    Lock lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }
  bool pop(std::int64_t& value) {
    Lock lock(mutex_);
    while (!full_ && !closed_) changed_.wait(lock);
    if (!full_) return false;
    value = value_;
    full_ = false;
    changed_.notify_one();
    return true;
  }

 private:
  Mutex mutex_;
  Condition changed_;  // one side at most waits: with one producer and one consumer
  std::int64_t value_ = 0;
  bool full_ = false;
  bool closed_ = false;
};

}  // namespace heddle::lab::coop_speed
