#include <cstdint>
#include <vector>

#include "harness/counters.hpp"
#include "harness/strand_kinds.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/readers_writers/workload.hpp"

namespace heddle::lab::readers_writers {
namespace {

constexpr int regions = 2;

/// What the strands of a region share: its numbers of readers and writers that are at the record or
/// the first of their region on the way to it.
struct alignas(64) region_state {
  int readers = 0;
  int writers = 0;
  bool is_asking = false;  // for the record, and does not have it yet
  waits done;
};

/// Readers and writers in two regions, as the source splits its philosophers: variables within a
/// region, and between the regions a semaphore, which a region holds while any of its strands is at
/// the record.
class divided_record {
 public:
  divided_record(problem& work, coop::parallel::groups& among) : work_(work), groups_(among) {}
  ~divided_record() {
    counters& mine = count();
    mine.p_operations += record_.p_count();
    mine.blocked_p_operations += record_.blocked_p_count();
    mine.strand_switches += record_.blocked_p_count();
    for (const region_state& each : regions_) work_.waited(each.done);
  }
  divided_record(const divided_record&) = delete;
  divided_record& operator=(const divided_record&) = delete;

  /// All visits of a strand, in its region.
  void spawn(int who) {
    const auto at = static_cast<std::size_t>(who % regions);
    groups_[at].spawn([this, who, &own = regions_[at]]() -> STRAND {
      const bool reads = work_.is_reader(who);
      int& kind = reads ? own.readers : own.writers;
      const auto may_go = [&own, reads] {
        return !own.is_asking && own.writers == 0 && (reads || own.readers == 0);
      };
      for (std::int64_t visit = 0; visit < work_.visits(); ++visit) {
        work_.work_outside(who, no_checkpoint);
        if (work_.yields_outside()) {
          ++own.done.switches;
          WAIT(coop::yield());
        }
        const std::uint64_t before = own.done.evaluations;
        WAIT(coop::wait_for(own.done.counting(may_go)));
        if (own.done.evaluations != before) ++own.done.switches;
        if (kind++ == 0) {
          own.is_asking = true;
          WAIT(record_.P());
          own.is_asking = false;
        }
        work_.begin(who);
        work_.work_inside(who, no_checkpoint);
        for (int i = 0; i < work_.cooperative_yields_inside(); ++i) {
          ++own.done.switches;
          WAIT(coop::yield());
        }
        work_.end(who);
        if (--kind == 0) record_.V();
      }
    });
  }

 private:
  problem& work_;
  coop::parallel::groups& groups_;
  std::vector<region_state> regions_{regions};
  coop::parallel::semaphore record_{1};
};

void run(problem& work, region& timed) {
  timed.kernel_threads(1 + regions);
  coop::parallel::groups groups({.count = regions});
  divided_record record(work, groups);
  for (int who = 0; who < work.strands(); ++who) record.spawn(who);
  groups.run();
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::readers_writers
