#include <deque>

#include "harness/fiber_models.hpp"
#include "workloads/spawn/workload.hpp"

namespace heddle::lab::spawning {
namespace {

// A context for each strand, without a scheduler: made, switched to, ended, deleted.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region& timed) {
    count_threads<Context>(timed, work.outstanding());
    Context main;
    std::deque<strand> alive;
    work.in_batches([&](std::int64_t first, std::int64_t end) {
      for (std::int64_t i = first; i < end; ++i) alive.emplace_back(work, i);
      for (strand& each : alive) Context::switch_to(main, each.context);
      alive.clear();
    });
    count().strand_switches += static_cast<std::uint64_t>(2 * work.strands());
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  struct strand {
    strand(problem& problem_of_all, std::int64_t position)
        : work(problem_of_all), number(position) {}

    static void body(void* argument) {
      auto& self = *static_cast<strand*>(argument);
      self.work.ran(self.number);
    }

    problem& work;
    std::int64_t number;
    Context context{&body, this, stack_bytes};
  };
};

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::spawning
