// Helpers of the tests of links.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coop/link/link.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "parallel/helpers.hpp"

/// Runs `test(first, second, run)` with both ends in one scheduler, in one group, and in two.
/// `run` has one type, as each more would compile the test once more.
template <class Test>
void in_each_place(const Test& test) {
  using Run = std::function<void()>;
  SUBCASE("one scheduler") {
    scheduler s;
    test(s, s, Run([&] { s.run(); }));
  }
  SUBCASE("one group") {
    parallel::groups g({.count = 1});
    test(g[0], g[0], Run([&] { g.run(); }));
  }
  SUBCASE("two groups") {
    parallel::groups g({.count = 2});
    test(g[0], g[1], Run([&] { g.run(); }));
  }
  SUBCASE("two groups that do not spin") {
    parallel::groups g({.count = 2, .spin = 0us});
    test(g[0], g[1], Run([&] { g.run(); }));
  }
}
