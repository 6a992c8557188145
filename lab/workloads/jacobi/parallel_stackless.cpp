#include "workloads/jacobi/gates.hpp"
#include "workloads/jacobi/task.hpp"

namespace heddle::lab::jacobi {
namespace {

// A group's barrier, as a task sees it.
struct barriers {
  auto library() { return all.of_library.arrive_and_wait(); }
  [[nodiscard]] int others() const { return all.others(); }
  void tell_others() { all.tell_others(mine); }
  auto hear_one() { return mine.others_have_come.P(); }

  gates& all;
  gate& mine;
  shared_barrier& shared;
};

// PCM: neighbouring strips are a group, on a processor of its own.
void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  gates all(work, groups);
  std::deque<barriers> of_groups;
  for (int group = 0; group < work.groups(); ++group) {
    of_groups.push_back({all, all.at(group), all.at(group).shared});
  }
  for (int strand = 0; strand < work.strands(); ++strand) {
    const auto group = static_cast<std::size_t>(work.group_of(strand));
    groups[group].spawn(
        [&work, &mine = of_groups[group], strand] { return solve(work, strand, mine); });
  }
  groups.run();
  all.count_operations();
}

const model<problem> parallel_stackless{"parallel/stackless", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
