#pragma once

#include <cstddef>
#include <deque>

#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {

/// The buffer whose state is semaphores. `mutex_d` and `mutex_f` are used where several producers
/// deposit, or consumers fetch.
template <class Semaphore>
class by_semaphores {
 public:
  explicit by_semaphores(problem& work)
      : work_(work),
        protects_d_(work.producers() > 1),
        protects_f_(work.consumers() > 1),
        empty_(static_cast<unsigned int>(work.slots())) {
    for (int i = 0; i < work.producers() + work.consumers(); ++i) own_.emplace_back(1U);
  }

  template <class Checkpoint>
  void produce(int who, const Checkpoint& checkpoint) {
    for (std::int64_t item = 0; item < work_.items(); ++item) {
      work_.produce(who, checkpoint);
      make_pairs(who);
      empty_.P();
      if (protects_d_) mutex_d_.P();
      work_.deposit(who, checkpoint);
      if (protects_d_) mutex_d_.V();
      full_.V();
    }
  }

  template <class Checkpoint>
  void consume(int who, const Checkpoint& checkpoint) {
    for (std::int64_t left = work_.share_of(who); left > 0; --left) {
      make_pairs(work_.producers() + who);
      full_.P();
      if (protects_f_) mutex_f_.P();
      work_.fetch(who, checkpoint);
      if (protects_f_) mutex_f_.V();
      empty_.V();
      work_.consume(who, checkpoint);
    }
  }

 private:
  void make_pairs(int strand) {
    Semaphore& own = own_[static_cast<std::size_t>(strand)];
    for (int i = 0; i < work_.pairs(); ++i) {
      own.P();
      own.V();
    }
  }

  problem& work_;
  bool protects_d_;
  bool protects_f_;
  Semaphore empty_;
  Semaphore full_{0U};
  Semaphore mutex_d_{1U};
  Semaphore mutex_f_{1U};
  std::deque<Semaphore> own_;  // one of each strand: see problem::pairs()
};

}  // namespace heddle::lab::buffer
