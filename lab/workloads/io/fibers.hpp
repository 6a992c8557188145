#pragma once

#include "workloads/io/cooperative.hpp"

namespace heddle::lab::io {

/// `depth` plain calls, then `read`. It is not part of each call: only the innermost has its frame.
template <void (*read)(reading&)>
[[gnu::noinline]] void call(reading& r, int depth) {
  depth == 0 ? read(r) : call<read>(r, depth - 1);
  asm volatile("");  // there is something to come back for
}

/// Each strand a fiber, in which calls are calls.
template <void (*read)(reading&)>
void run_fibers(problem& work, region& timed) {
  run_strands(work, timed, [](coop::scheduler& s, reading& r) {
    s.spawn([&r] {
      r.work.made_stack();
      call<read>(r, r.work.depth());
    });
  });
}

}  // namespace heddle::lab::io
