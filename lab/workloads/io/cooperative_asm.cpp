// Stackful throughout: calls are calls.
#include <utility>

#include "heddle/coop/await.hpp"
#include "workloads/io/cooperative.hpp"

namespace heddle::lab::io {
namespace {

// Not part of each call, so that only the innermost has its frame.
[[gnu::noinline]] void read_in_fiber(reading& r) {
  const coop::io::file data = r.open();
  coop::io::buffer page = r.buffer();
  for (int i = 0; i < r.work.reads(); ++i) {
    r.work.spoil(page.data());
    r.took(coop::await(data.read_all(page, 0)), page);
  }
  r.done_with(std::move(page));
}

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

const model<problem> registered{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::io
