// Stackful outside, where calls are calls; a coroutine at the leaf, where it waits.
#include "heddle/coop/hybrid.hpp"

#include "workloads/io/cooperative.hpp"

namespace heddle::lab::io {
namespace {

// Not part of each call, so that only the innermost has its frame.
[[gnu::noinline]] void read_in_fiber(reading& r) { coop::await(read_in_task(r)); }

[[gnu::noinline]] void call(reading& r, int depth) {
  depth == 0 ? read_in_fiber(r) : call(r, depth - 1);
  asm volatile("");  // there is something to come back for
}

void run(problem& work, region& timed) {
  run_strands(work, timed, [](coop::scheduler& s, reading& r) {
    s.spawn([&r] {
      r.work.made_stack();
      call(r, r.work.depth());
    });
  });
}

const model<problem> registered{"hybrid", &run};

}  // namespace
}  // namespace heddle::lab::io
