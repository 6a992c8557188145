#pragma once

#include <memory>
#include <vector>

#include "harness/fiber_models.hpp"
#include "workloads/switch/workload.hpp"

namespace heddle::lab::switching {

/// The FiberContext article's test program, on any of our contexts.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region& timed) {
    count_threads<Context>(timed, work.contexts());
    fibers all(work);
    timed.begin();
    if (work.direct()) {
      // Returns when strand 0 has been given the processor once more than it had turns to take.
      Context::switch_to(all.scheduler_, all.strands_.front()->context);
    } else {
      all.schedule();
    }
    timed.end();
    if (work.direct()) all.let_the_others_return();
    work.switches_per_yield(work.direct() ? 1 : 2);
    count().strand_switches +=
        static_cast<std::uint64_t>(work.contexts() * work.counter() * (work.direct() ? 1 : 2));
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  struct strand {
    strand(problem& problem_of_all, Context& main, int position)
        : work(problem_of_all),
          scheduler(main),
          index(position),
          context(problem_of_all.direct() ? &yield_to_next : &yield_to_scheduler, this,
                  stack_bytes) {}

    problem& work;
    Context& scheduler;
    Context* next = nullptr;
    int index;
    Context context;
  };

  explicit fibers(problem& work) : work_(work) {
    strands_.reserve(static_cast<std::size_t>(work.contexts()));
    for (int i = 0; i < work.contexts(); ++i) {
      strands_.push_back(std::make_unique<strand>(work, scheduler_, i));
      if (i > 0) strands_[static_cast<std::size_t>(i) - 1]->next = &strands_.back()->context;
    }
    strands_.back()->next = &strands_.front()->context;
  }

  void schedule() {
    for (std::int64_t round = 0; round <= work_.counter(); ++round) {  // in the last, they return
      for (auto& each : strands_) Context::switch_to(scheduler_, each->context);
    }
  }

  void let_the_others_return() {
    for (std::size_t i = 1; i < strands_.size(); ++i) {
      Context::switch_to(scheduler_, strands_[i]->context);
    }
  }

  static void yield_to_scheduler(void* argument) {
    auto& self = *static_cast<strand*>(argument);
    turns mine = self.work.turns_of(self.index);
    Context& scheduler = self.scheduler;
    const std::int64_t counter = self.work.counter();
    for (std::int64_t i = 0; i < counter; ++i) {
      mine.take();
      Context::switch_to(self.context, scheduler);
    }
    self.work.finish(mine);
  }

  static void yield_to_next(void* argument) {
    auto& self = *static_cast<strand*>(argument);
    turns mine = self.work.turns_of(self.index);
    Context& next = *self.next;
    const std::int64_t counter = self.work.counter();
    for (std::int64_t i = 0; i < counter; ++i) {
      mine.take();
      Context::switch_to(self.context, next);
    }
    self.work.finish(mine);
  }

  problem& work_;
  Context scheduler_;
  std::vector<std::unique_ptr<strand>> strands_;
};

}  // namespace heddle::lab::switching
