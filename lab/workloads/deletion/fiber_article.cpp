#include <deque>

#include "workloads/deletion/article_context.hpp"
#include "workloads/deletion/workload.hpp"

namespace heddle::lab::deleting {
namespace {

struct strand {
  strand(problem& problem_of_all, article_context& blank, std::size_t stack_bytes)
      : work(problem_of_all), scheduler(blank), context(&main, this, stack_bytes) {}

  static void main(void* argument) {
    auto& self = *static_cast<strand*>(argument);
    self.work.context([&] { article_context::switch_to(self.context, self.scheduler); });
  }

  problem& work;
  article_context& scheduler;
  article_context context;
};

void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.contexts()) + 1);
  article_context scheduler;

  // Both end the process, or never end: in one of their own, while there are no threads to fork.
  work.delete_hangs(fate_of([&] {
                      strand suspended(work, scheduler, work.stack_bytes());
                      article_context::switch_to(scheduler, suspended.context);
                      suspended.context.delete_as_printed();
                    }) == fate::hangs);
  work.small_stack(fate_of([&] {
                     strand small(work, scheduler, 1024);
                     article_context::switch_to(scheduler, small.context);
                   }) == fate::returned,
                   "");

  work.count_threads_before();
  std::deque<strand> strands;
  for (std::int64_t i = 0; i < work.contexts(); ++i) {
    strands.emplace_back(work, scheduler, work.stack_bytes());
  }
  for (std::int64_t round = 0; round < work.counter(); ++round) {
    for (strand& each : strands) article_context::switch_to(scheduler, each.context);
  }
  timed.begin();
  strands.clear();
  timed.end();
  work.count_threads_after();
  count().strand_switches += static_cast<std::uint64_t>(2 * work.contexts() * work.counter());
}

const model<problem> fiber_article{"fiber/article", &run};

}  // namespace
}  // namespace heddle::lab::deleting
