#pragma once

#include <array>

namespace heddle::lab::jacobi {

/// CP's barrier, of semaphores alone: a mutex round the count of those who have come, and one to
/// wait on, of which there are two, for odd and even meetings: who is quick cannot take the permit
/// of who is slow. `p` is the semaphore's P operation.
template <class Semaphore>
class semaphore_barrier {
 public:
  explicit semaphore_barrier(int strands) : strands_(strands) {}

  template <class P>
  void meet(const P& p) {
    p(mutex_);
    Semaphore& gate = gates_[static_cast<std::size_t>(meeting_ & 1)];
    if (++come_ == strands_) {
      come_ = 0;
      ++meeting_;
      mutex_.V();
      for (int other = 1; other < strands_; ++other) gate.V();
    } else {
      mutex_.V();
      p(gate);
    }
  }

  /// Calls `visit` with each semaphore.
  template <class Visit>
  void each(const Visit& visit) const {
    visit(mutex_);
    for (const Semaphore& gate : gates_) visit(gate);
  }

 private:
  int strands_;
  Semaphore mutex_{1};
  std::array<Semaphore, 2> gates_{Semaphore(0), Semaphore(0)};
  int come_ = 0;     // to this meeting; the mutex protects it
  int meeting_ = 0;  // and this: its number
};

}  // namespace heddle::lab::jacobi
