// CP on one processor, the partner of cooperative/asm.
#include "harness/processes.hpp"
#include "workloads/http/by_semaphores.hpp"

namespace heddle::lab::http {
namespace {

void run(problem& work, region& timed) {
  coop::scheduler s({.stack_bytes = client_stack_bytes});
  by_semaphores<process_semaphore, coop::scheduler> all(work, {&s});
  s.spawn([&] {
    const timed_slices slices(s, work.slice());
    all.keep(0);
    count().strand_switches += slices.switches();
  });
  timed.begin();
  s.run();
  timed.end();
  timed.kernel_threads(2);  // one tells the time
}

const model<problem> registered{"concurrent", &run};

}  // namespace
}  // namespace heddle::lab::http
