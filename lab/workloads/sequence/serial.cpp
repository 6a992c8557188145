// A function that keeps its place in an object: what there is to lose.
#include "workloads/sequence/workload.hpp"

namespace heddle::lab::sequence {
namespace {

struct counting {
  std::int64_t next = 0;
  [[gnu::noinline]] std::int64_t operator()() { return next++; }
};

void run(problem& work, region& timed) {
  const std::int64_t generators = work.generators();
  timed.begin();
  for (std::int64_t each = 0; each < generators; ++each) {
    counting next;
    taker items;
    for (std::int64_t i = 0; i < work.items(); ++i) items.take(next());
    work.finish(items);
  }
  timed.end();
}

const model<problem> registered{"serial", &run};

}  // namespace
}  // namespace heddle::lab::sequence
