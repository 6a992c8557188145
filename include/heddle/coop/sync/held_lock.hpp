#pragma once

#include <utility>

namespace heddle::coop {

/// A lock that a strand has got from `scoped_lock()`: unlocked when this object goes, unless it was
/// before. To be moved within the strand, not to another one, which may not unlock it. A strand
/// that its scheduler destroys unlocks on the way.
template <class Lock, bool Shared = false>
class [[nodiscard("unlocked at once if nobody keeps it: auto guard = …")]] held_lock {
 public:
  /// Takes charge of `locked`, which the running strand has locked.
  explicit held_lock(Lock & locked) noexcept : lock_(&locked) {}
  held_lock(held_lock && other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  held_lock& operator=(held_lock other) noexcept {
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~held_lock() { unlock(); }

  /// Unlocks it now. Nothing if that was done already.
  void unlock() {
    Lock* const held = std::exchange(lock_, nullptr);
    if (held == nullptr) return;
    if constexpr (Shared) {
      held->unlock_shared();
    } else {
      held->unlock();
    }
  }
  /// It stays locked, and is to be unlocked by hand.
  void release() noexcept { lock_ = nullptr; }

 private:
  Lock* lock_;
};

}  // namespace heddle::coop
