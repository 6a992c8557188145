#include <coroutine>

#include "heddle/coop/task.hpp"
#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv {
namespace {

// There are as many coroutines as the threads' program has threads. They need no lock, because a
// coroutine is only left between two operations.
coop::task<void> client(problem& work, int strand) {
  outcome seen;
  for (const operation& each : work.operations_of(strand)) {
    work.perform(each, strand, seen);
    co_await std::suspend_always{};
  }
  work.outcome_of(strand) = seen;
}

// Round robin until all are done.
void run(problem& work, region&) {
  std::vector<coop::task<void>> clients;
  for (int strand = 0; strand < work.strands(); ++strand) clients.push_back(client(work, strand));
  std::uint64_t resumes = 0;
  for (bool alive = true; alive;) {
    alive = false;
    for (const coop::task<void>& each : clients) {
      if (each.done()) continue;
      each.resume();
      ++resumes;
      alive = true;
    }
  }
  for (const coop::task<void>& each : clients) each.result();  // rethrows what one has thrown
  count().strand_switches += 2 * resumes;                      // to the coroutine and back
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::kv
