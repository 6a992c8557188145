#pragma once

#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers {

/// The record behind two semaphores, readers first.
template <class Semaphore>
class by_semaphores {
 public:
  explicit by_semaphores(problem& work) : work_(work) {}

  /// `give_way()` lets others run.
  template <class Checkpoint, class GiveWay>
  void run(int who, const Checkpoint& checkpoint, const GiveWay& give_way) {
    const auto pause = [&] {
      for (int i = 0; i < work_.yields_inside(); ++i) give_way();
    };
    for (std::int64_t visit = 0; visit < work_.visits(); ++visit) {
      work_.work_outside(who, checkpoint);
      if (work_.is_reader(who)) {
        mutex_r_.P();
        if (++readers_ == 1) record_.P();
        mutex_r_.V();
        work_.visit(who, checkpoint, pause);
        mutex_r_.P();
        if (--readers_ == 0) record_.V();
        mutex_r_.V();
      } else {
        record_.P();
        work_.visit(who, checkpoint, pause);
        record_.V();
      }
    }
  }

 private:
  problem& work_;
  Semaphore mutex_r_{1U};
  Semaphore record_{1U};
  int readers_ = 0;  // at the record or on their way to it
};

}  // namespace heddle::lab::readers_writers
