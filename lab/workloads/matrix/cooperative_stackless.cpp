#include "heddle/coop/scheduler.hpp"
#include "workloads/matrix/task.hpp"

namespace heddle::lab::matrix {
namespace {

// Runs as many tasks as the threads' program has threads, on one processor.
void run(problem& work, region&) {
  coop::scheduler s;
  for (int i = 0; i < work.threads(); ++i) {
    s.spawn(multiply(work, share(work, i, work.threads())));
  }
  s.run();
  count().strand_switches += work.units();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::matrix
