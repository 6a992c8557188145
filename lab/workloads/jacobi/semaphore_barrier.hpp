#pragma once

#include <array>
#include <cstddef>

namespace heddle::lab::jacobi {

/// CP's barrier, of semaphores alone: a mutex round the count of those who have come, and one to
/// wait on, of which there are two, for odd and even meetings: who is quick cannot take the permit
/// of who is slow.
template <class Semaphore>
class semaphore_barrier {
 public:
  explicit semaphore_barrier(int strands) : strands_(strands) {}

  void meet() {
    mutex_.P();
    Semaphore& gate = gates_[static_cast<std::size_t>(meeting_ & 1)];
    if (++come_ == strands_) {
      come_ = 0;
      ++meeting_;
      mutex_.V();
      for (int other = 1; other < strands_; ++other) gate.V();
    } else {
      mutex_.V();
      gate.P();
    }
  }

 private:
  int strands_;
  Semaphore mutex_{1};
  std::array<Semaphore, 2> gates_{Semaphore(0), Semaphore(0)};
  int come_ = 0;     // to this meeting; the mutex protects it
  int meeting_ = 0;  // and this: its number
};

}  // namespace heddle::lab::jacobi
