#include <sched.h>

#include <memory>
#include <vector>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/jacobi/strand.hpp"

namespace heddle::lab::jacobi {
namespace {

// PCM as the paper had to simulate it, where nothing keeps a group's threads from running at the
// same time: "each group of processes uses shared variables to implement the barrier among the
// group. Two semaphores are used to synchronize between the two groups. (The actual code uses the
// extra, protection synchronization …, to prevent race conditions.)"
class group {
 public:
  explicit group(int strands) : expected_(strands) {}

  /// Waits for those of this group; the last of them for the other groups.
  void meet(std::vector<std::unique_ptr<group>>& all) {
    protection_.P();
    const std::int64_t number = meeting_;
    const bool last = ++come_ == expected_;
    protection_.V();
    if (last) {
      for (const auto& other : all) {
        if (other.get() != this) other->others_.V();
      }
      for (std::size_t other = 1; other < all.size(); ++other) others_.P();
      protection_.P();
      come_ = 0;
      ++meeting_;
      protection_.V();
    } else {
      while (!over(number)) {
        sched_yield();
        ++count().strand_switches;
      }
    }
  }

 private:
  bool over(std::int64_t number) {
    protection_.P();
    const bool is_over = meeting_ != number;
    protection_.V();
    return is_over;
  }

  posix_semaphore protection_{1};
  posix_semaphore others_{0};  // a permit from each other group, whose threads have all come
  int expected_;
  int come_ = 0;              // protected
  std::int64_t meeting_ = 0;  // protected: its number
};

void run(problem& work, region& timed) {
  std::vector<std::unique_ptr<group>> groups;
  for (int i = 0; i < work.groups(); ++i) {
    groups.push_back(std::make_unique<group>(work.group_size(i)));
  }
  run_on_threads(timed, work.strands(), [&](int strand) {
    group& mine = *groups[static_cast<std::size_t>(work.group_of(strand))];
    solve(work, strand, [&] { mine.meet(groups); });
  });
}

const model<problem> thread_groups{"thread/groups", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
