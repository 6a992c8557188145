#include <deque>
#include <new>
#include <system_error>

#include "harness/fiber_models.hpp"
#include "workloads/idle/workload.hpp"

namespace heddle::lab::idling {
namespace {

// A context for each strand, without a scheduler. The default stack of our contexts' users, 64 KB,
// of which the pages that are touched cost memory.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region&) {
    work.measure_empty();
    Context main;
    std::deque<strand> alive;
    for (std::int64_t i = 0; i < work.strands() && work.room(i); ++i) {
      try {
        alive.emplace_back(work, main);
      } catch (const std::system_error& error) {
        work.refused(error.code().value());
        break;
      }
      Context::switch_to(main, alive.back().context);
    }
    work.measure_full(static_cast<std::int64_t>(alive.size()));
    for (strand& each : alive) Context::switch_to(main, each.context);
    count().strand_switches += 4 * alive.size();
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  struct strand {
    strand(problem& problem_of_all, Context& whoever_resumes)
        : work(problem_of_all), main(whoever_resumes) {}

    static void body(void* argument) {
      auto& self = *static_cast<strand*>(argument);
      Context::switch_to(self.context, self.main);
      self.work.ended();
    }

    problem& work;
    Context& main;
    Context context{&body, this, stack_bytes};
  };
};

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::idling
