#include "workloads/jacobi/fiber.hpp"
#include "workloads/jacobi/gates.hpp"

namespace heddle::lab::jacobi {
namespace {

// PCM: neighbouring strips are a group, on a processor of its own.
void run(problem& work, region& timed) {
  timed.kernel_threads(static_cast<std::uint64_t>(work.groups()) + 1);
  coop::parallel::groups groups({.count = static_cast<std::size_t>(work.groups())});
  gates all(work, groups);
  for (int strand = 0; strand < work.strands(); ++strand) {
    const int group = work.group_of(strand);
    groups[static_cast<std::size_t>(group)].spawn([&work, &all, &mine = all.at(group), strand] {
      if (work.how() == meeting::library) {
        return solve(work, strand, [&] {
          if (!coop::await(all.of_library.arrive_and_wait())) ++count().strand_switches;
        });
      }
      const auto meet_others = [&] {
        all.tell_others(mine);
        for (int other = 0; other < all.others(); ++other) coop::await(mine.others_have_come.P());
      };
      solve(work, strand, [&] { meet(mine.shared, work.how(), meet_others); });
    });
  }
  groups.run();
  all.count_operations();
}

const model<problem> parallel_asm{"parallel/asm", &run};

}  // namespace
}  // namespace heddle::lab::jacobi
