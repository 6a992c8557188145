#include "harness/fiber_models.hpp"
#include "workloads/simulator/processes.hpp"

namespace heddle::lab::simulating {
namespace {

// A context of ours as the mechanism.
template <coop::context Context>
class fiber {
 public:
  explicit fiber(process<fiber>& runs) : context_(&main, &runs, stack_bytes) {}

  void start() { resume(); }
  void resume() { Context::switch_to(event_loop(), context_); }
  void suspend() { Context::switch_to(context_, event_loop()); }

  static void run(problem& work, region& timed) {
    count_threads<Context>(timed, 2 * work.given().connections);
    Context blank;
    loop = &blank;
    run_processes<fiber>(work, timed);
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  static Context& event_loop() { return *loop; }
  static void main(void* runs) { static_cast<process<fiber>*>(runs)->main(); }

  static inline Context* loop = nullptr;
  Context context_;
};

const fiber_models<problem, fiber> registered;

}  // namespace
}  // namespace heddle::lab::simulating
