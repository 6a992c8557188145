#include <cstdint>

#include "harness/counters.hpp"
#include "harness/strand_kinds.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {
namespace {

// The state that the producers' group and the consumers' group share beside the slots.
struct between_groups {
  coop::parallel::semaphore empty;
  coop::parallel::semaphore full{0};

  explicit between_groups(const problem& work) : empty(static_cast<std::uint64_t>(work.slots())) {}
  ~between_groups() {
    counters& mine = count();
    mine.p_operations += empty.p_count() + full.p_count();
    mine.blocked_p_operations += empty.blocked_p_count() + full.blocked_p_count();
    mine.strand_switches += empty.blocked_p_count() + full.blocked_p_count();
  }
  between_groups(const between_groups&) = delete;
  between_groups& operator=(const between_groups&) = delete;
};

void run(problem& work, region& timed) {
  timed.kernel_threads(3);
  between_groups shared(work);
  coop::parallel::groups groups({.count = 2});
  for (int who = 0; who < work.producers(); ++who) {
    groups[0].spawn([&work, &shared, who]() -> STRAND {
      for (std::int64_t item = 0; item < work.items(); ++item) {
        work.produce(who, no_checkpoint);
        WAIT(shared.empty.P());
        work.deposit(who, no_checkpoint);
        shared.full.V();
      }
    });
  }
  for (int who = 0; who < work.consumers(); ++who) {
    groups[1].spawn([&work, &shared, who]() -> STRAND {
      for (std::int64_t left = work.share_of(who); left > 0; --left) {
        WAIT(shared.full.P());
        work.fetch(who, no_checkpoint);
        shared.empty.V();
        work.consume(who, no_checkpoint);
      }
    });
  }
  groups.run();
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::buffer
