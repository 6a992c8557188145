#include "workloads/philosophers/moving_table.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "harness/processors.hpp"
#include "heddle/coop/parallel/groups.hpp"

namespace heddle::lab::philosophers_moving_table_test {

using philosophers::moving_table;
using philosophers::problem;

problem dinner(std::int64_t philosophers, std::string_view yield) {
  parameters values = parameters(problem::declare())
                          .with("philosophers", philosophers)
                          .with("work", 20)
                          .with("uneven", 4)
                          .with("processors", processors() > 1 ? 2 : 1)
                          .with("steps", 60'000);
  values.set("yield", yield);
  return problem(values);
}

void run(problem& work, moving_table& table, coop::parallel::groups& groups) {
  for (int who = 0; who < work.philosophers(); ++who) {
    groups[static_cast<std::size_t>(work.region_of(who))].spawn([&table, who] { table.dine(who); });
  }
  groups.run();
  work.moved(table.moves(), table.lost_forks());
}

TEST_CASE("philosophers who move at random, in any order, eat alone and lose no fork") {
  std::int64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    problem work = dinner(static_cast<std::int64_t>(4 + seed % 5), seed % 2 == 0 ? "both" : "none");
    coop::parallel::groups groups({.count = 2, .each = {.random_seed = seed}});
    // The choice is each philosopher's own, as they are on two processors.
    std::vector<std::mt19937_64> random;
    for (int who = 0; who < work.philosophers(); ++who) {
      random.emplace_back(seed * 100 + static_cast<std::uint64_t>(who));
    }
    moving_table table(work, groups,
                       [&](int who) { return random[static_cast<std::size_t>(who)]() % 4 == 0; });
    run(work, table, groups);
    const verdict found = work.check();
    CHECK_MESSAGE(found.ok, found.checked);
    moves += table.moves();
  }
  CHECK(moves > 100);
}

TEST_CASE("philosophers who always move leave two in each region") {
  for (const std::int64_t philosophers : {4, 5, 16}) {
    CAPTURE(philosophers);
    problem work = dinner(philosophers, "both");
    coop::parallel::groups groups({.count = 2});
    moving_table table(work, groups, [](int) { return true; });
    run(work, table, groups);
    const verdict found = work.check();
    CHECK_MESSAGE(found.ok, found.checked);
    CHECK((table.moves() > 0) == (philosophers > 4));
  }
}

TEST_CASE("the philosophers' oracle notices a fork that is lost") {
  problem work = dinner(5, "none");
  coop::parallel::groups groups({.count = 2});
  moving_table table(work, groups);
  run(work, table, groups);
  CHECK(work.check().ok);
  CHECK(table.lost_forks() > 0);  // the permits of border forks were taken by the first look
  work.moved(0, 1);
  CHECK_FALSE(work.check().ok);
}

}  // namespace heddle::lab::philosophers_moving_table_test
