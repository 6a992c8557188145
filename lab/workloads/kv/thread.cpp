#include <array>
#include <latch>
#include <mutex>
#include <shared_mutex>

#include "harness/locks.hpp"
#include "harness/team.hpp"
#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv {
namespace {

template <class Perform>
void perform_all(problem& work, region& timed, const Perform& perform) {
  std::latch all_are_there(work.strands());
  run_on_threads(timed, work.strands(), [&](int strand) {
    if (work.together()) all_are_there.arrive_and_wait();
    outcome seen;
    for (const operation& each : work.operations_of(strand)) perform(each, strand, seen);
    work.outcome_of(strand) = seen;
  });
}

// "each operation uses mutex locks for safety. We used 10 threads to perform the operations"
// (3.2.2).
void run_with_mutex(problem& work, region& timed) {
  counting<std::mutex> mutex;
  perform_all(work, timed, [&](const operation& each, int strand, outcome& seen) {
    const std::lock_guard lock(mutex);
    work.perform(each, strand, seen);
  });
}

void run_with_shared_mutex(problem& work, region& timed) {
  counting<std::shared_mutex> mutex;
  perform_all(work, timed, [&](const operation& each, int strand, outcome& seen) {
    if (each.what == kind::get || each.what == kind::range) {
      const std::shared_lock lock(mutex);
      work.perform(each, strand, seen);
    } else {
      const std::lock_guard lock(mutex);
      work.perform(each, strand, seen);
    }
  });
}

void run_sharded(problem& work, region& timed) {
  struct alignas(64) padded {
    counting<std::mutex> mutex;
  };
  work.divide();
  std::array<padded, problem::shards> locks;
  timed.begin();
  perform_all(work, timed, [&](const operation& each, int strand, outcome& seen) {
    work.perform_divided(each, strand, seen, [&](int shard) {
      return std::unique_lock(locks[static_cast<std::size_t>(shard)].mutex);
    });
  });
  timed.end();
}

void run(problem& work, region& timed) {
  switch (work.lock()) {
    case locking::mutex:
      return run_with_mutex(work, timed);
    case locking::shared:
      return run_with_shared_mutex(work, timed);
    case locking::sharded:
      return run_sharded(work, timed);
  }
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::kv
