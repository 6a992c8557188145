#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/fiber_models.hpp"
#include "heddle/coop/context/fiber_context.h"
#include "workloads/deletion/workload.hpp"

namespace heddle::lab::deleting {
namespace {

// The article's scheduler on the FiberContext API, which passes no argument to a context.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region& timed) {
    count_threads<Context>(timed, work.contexts());
    if (FiberContextSelectBackend(std::string(Context::name).c_str()) != 0) {
      throw std::runtime_error(FiberContextError());
    }
    work.promise_to_unwind();
    work_of_all = &work;
    work.count_threads_before();
    scheduler = FiberContextNewBlank();
    std::vector<FiberContext*> contexts;
    for (std::int64_t i = 0; i < work.contexts(); ++i) {
      FiberContext* const made = FiberContextNew(&context, work.stack_bytes());
      if (made == nullptr) throw std::runtime_error(FiberContextError());
      contexts.push_back(made);
    }
    for (std::int64_t round = 0; round < work.counter(); ++round) {
      for (FiberContext* const each : contexts) {
        running = each;
        FiberContextSwitchTo(scheduler, each);
      }
    }
    timed.begin();
    for (FiberContext* const each : contexts) FiberContextDelete(each);
    timed.end();
    FiberContextDelete(scheduler);
    work.count_threads_after();

    errno = 0;
    const bool refused = FiberContextNew(&context, 1024) == nullptr && errno == EINVAL;
    work.small_stack(refused, FiberContextError());
    count().strand_switches += static_cast<std::uint64_t>(2 * work.contexts() * work.counter());
  }

 private:
  static void context() {
    work_of_all->context([] { FiberContextSwitchTo(running, scheduler); });
  }

  static inline problem* work_of_all = nullptr;
  static inline FiberContext* scheduler = nullptr;
  static inline FiberContext* running = nullptr;
};

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::deleting
