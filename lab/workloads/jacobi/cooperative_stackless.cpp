#include <coroutine>

#include "heddle/coop/sync/barrier.hpp"
#include "workloads/jacobi/task.hpp"

namespace heddle::lab::jacobi {
namespace {

// One group, and no others.
struct barriers {
  explicit barriers(int strands) : shared(strands), of_library(static_cast<std::size_t>(strands)) {}
  auto library() { return of_library.arrive_and_wait(); }
  static constexpr int others() { return 0; }
  static void tell_others() {}
  static std::suspend_never hear_one() { return {}; }

  shared_barrier shared;
  coop::barrier of_library;
};

void run(problem& work, region&) {
  coop::scheduler s;
  barriers all(work.strands());
  for (int strand = 0; strand < work.strands(); ++strand) s.spawn(solve(work, strand, all));
  s.run();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
