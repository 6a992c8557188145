// The proof that the paper could not give: what strands of one group do to wait for each other
// makes no system call.
#include "heddle/coop/parallel/groups.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/syscalls.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::lab::philosophers_groups_test {

namespace parallel = heddle::coop::parallel;
using heddle::coop::await;

constexpr std::size_t regions = 2;
constexpr std::size_t seats = 8;  // of a region

/// Figure 3 of the paper: philosophers of two regions, whose inner forks are shared variables, and
/// the two forks between the regions semaphores.
struct dinner {
  std::array<std::array<bool, seats - 1>, regions> free{};  // each region's own
  std::array<std::array<long, seats>, regions> eaten{};     // likewise
  std::array<parallel::semaphore, regions> border{parallel::semaphore{1}, parallel::semaphore{1}};

  void seat(parallel::groups& g, std::size_t region, std::size_t seat, int meals) {
    g[region].spawn([this, region, seat, meals] {
      auto& forks = free[region];
      const bool first = seat == 0;
      const bool last = seat == seats - 1;
      for (int meal = 0; meal < meals; ++meal) {
        // The fork between regions first: the others are taken both at once, or not at all.
        if (first) await(border[region].P());
        if (last) await(border[(region + 1) % regions].P());
        await(heddle::coop::wait_for(
            [&] { return (first || forks[seat - 1]) && (last || forks[seat]); }));
        if (!first) forks[seat - 1] = false;
        if (!last) forks[seat] = false;
        await(heddle::coop::yield());
        ++eaten[region][seat];
        if (!first) forks[seat - 1] = true;
        if (!last) forks[seat] = true;
        if (first) border[region].V();
        if (last) border[(region + 1) % regions].V();
        await(heddle::coop::yield());
      }
    });
  }
};

// The philosophers at the borders eat ten times, whatever the others do.
void dine(int meals) {
  const auto table = std::make_unique<dinner>();
  parallel::groups g({.count = regions});
  for (std::size_t region = 0; region < regions; ++region) {
    table->free[region].fill(true);
    for (std::size_t seat = 0; seat < seats; ++seat) {
      table->seat(g, region, seat, seat == 0 || seat == seats - 1 ? 10 : meals);
    }
  }
  g.run();
  for (const auto& region : table->eaten) {
    for (std::size_t seat = 1; seat < seats - 1; ++seat) {
      if (region[seat] != meals) throw meals;
    }
  }
}

TEST_CASE("philosophers of one group make no system call to wait for each other") {
  const std::uint64_t few = heddle::lab::count_syscalls([] { dine(10); });
  const std::uint64_t many = heddle::lab::count_syscalls([] { dine(20'000); });
  CAPTURE(few);
  CAPTURE(many);
  // 240 000 more meals. What differs is whether a group had to sleep at a border, or at the end.
  CHECK(many < few + 400);
}

}  // namespace heddle::lab::philosophers_groups_test
