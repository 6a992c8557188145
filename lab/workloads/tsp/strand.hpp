#pragma once

#include "workloads/tsp/workload.hpp"

namespace heddle::lab::tsp {

/// Notes shorter tours where no other strand can be about to do the same.
class unprotected final : public finder {
 public:
  explicit unprotected(problem& work) : work_(work) {}
  void found(const tour& candidate) override { work_.found(candidate); }

 private:
  problem& work_;
};

/// CP: the bag and the shortest tour, and a semaphore for each.
template <class Semaphore, implicit_switches at = implicit_switches::none>
class protected_bag final : public finder {
 public:
  explicit protected_bag(problem& work) : work_(work) {}

  /// Takes tasks until there are none; what a strand does.
  void empty(int strand) {
    std::uint64_t nodes = 0;
    std::uint64_t tasks = 0;
    for (;; ++tasks) {
      bag_.P();
      const std::size_t task = next_;
      if (task < work_.tasks().size()) ++next_;
      bag_.V();
      if (task == work_.tasks().size()) break;
      nodes += search<at>(work_.cities(), work_.tasks()[task], work_.bound(), *this);
    }
    work_.worked(strand, tasks, nodes);
  }

  void found(const tour& candidate) override {
    shortest_.P();
    work_.found(candidate);
    shortest_.V();
  }

 private:
  problem& work_;
  Semaphore bag_{1};
  std::size_t next_ = 0;  // the next task in the bag, which `bag_` protects
  Semaphore shortest_{1};
};

}  // namespace heddle::lab::tsp
