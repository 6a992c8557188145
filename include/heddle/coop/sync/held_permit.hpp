#pragma once

#include <utility>

namespace heddle::coop {

/// A permit that a strand has got from `scoped_acquire()`: given back when this object goes, unless
/// it was before. Another strand may have it in the end. A strand that its scheduler destroys gives
/// it back on the way.
template <class Semaphore>
class [[nodiscard("given back at once if nobody keeps it: auto permit = …")]] held_permit {
 public:
  /// Takes charge of a permit of `its`.
  explicit held_permit(Semaphore & its) noexcept : semaphore_(&its) {}
  held_permit(held_permit && other) noexcept
      : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
  held_permit& operator=(held_permit other) noexcept {
    std::swap(semaphore_, other.semaphore_);
    return *this;
  }
  ~held_permit() { give_back(); }

  /// Gives it back now. Nothing if that was done already.
  void give_back() {
    if (Semaphore* const held = std::exchange(semaphore_, nullptr)) held->V();
  }

 private:
  Semaphore* semaphore_;
};

}  // namespace heddle::coop
