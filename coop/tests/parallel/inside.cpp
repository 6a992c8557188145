// Tests what strands of one group do among themselves while there is another group.
#include <memory>
#include <vector>

#include "heddle/coop/parallel/groups.hpp"
#include "helpers.hpp"
#include "in_group.hpp"

TEST_CASE("inside a group everything is as with a scheduler that is alone") {
  parallel::groups g({.count = 2});
  std::vector<std::unique_ptr<table>> tables;
  for (std::size_t i = 0; i < 4; ++i) {
    tables.push_back(std::make_unique<table>(g[i % 2].scheduler(), 500));
    (i / 2 == 0) ? tables.back()->seat_fibers() : tables.back()->seat_tasks();
  }
  g.run();
  for (const auto& each : tables) CHECK(each->eaten() == 1000);
}
