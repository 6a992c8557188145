// Stackless throughout: each call is a coroutine.
#include "workloads/io/cooperative.hpp"

namespace heddle::lab::io {
namespace {

coop::task<> call(reading& r, int depth) {
  r.work.made_frame();
  // Not `depth == 1 ? … : …`: GCC 12 destroys the task of such an operand twice.
  if (depth == 1) {
    co_await read_in_task(r);
  } else {
    co_await call(r, depth - 1);
  }
}

void run(problem& work, region& timed) {
  run_strands(work, timed, [](coop::scheduler& s, reading& r) {
    s.spawn(r.work.depth() == 0 ? read_in_task(r) : call(r, r.work.depth()));
  });
}

const model<problem> registered{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::io
