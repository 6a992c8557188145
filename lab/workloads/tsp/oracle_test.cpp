#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "workloads/tsp/workload.hpp"

namespace heddle::lab::tsp_oracle_test {

parameters parameters_of(std::int64_t cities, std::int64_t seed) {
  return parameters(tsp::problem::declare()).with("cities", cities).with("seed", seed);
}

// By trying them all.
tsp::tour shortest(const tsp::map& on) {
  std::vector<int> others(static_cast<std::size_t>(on.cities()) - 1);
  std::iota(others.begin(), others.end(), 1);
  tsp::tour best;
  best.length = std::numeric_limits<int>::max();
  do {
    tsp::tour candidate;
    candidate.append(on, 0);
    for (const int city : others) candidate.append(on, city);
    candidate.length += on.distance(others.back(), 0);
    if (candidate.length < best.length) best = candidate;
  } while (std::next_permutation(others.begin(), others.end()));
  return best;
}

struct collector final : tsp::finder {
  explicit collector(tsp::problem& problem) : work(problem) {}
  void found(const tsp::tour& candidate) override { work.found(candidate); }
  tsp::problem& work;
};

TEST_CASE("dynamic programming and the search find what trying all tours does") {
  for (const std::int64_t cities : {3, 4, 7, 8}) {
    for (const std::int64_t seed : {1, 2, 3}) {
      CAPTURE(cities);
      CAPTURE(seed);
      tsp::problem work(parameters_of(cities, seed));
      const int expected = shortest(work.cities()).length;
      CHECK(tsp::shortest_length(work.cities()) == expected);
      collector shorter(work);
      std::uint64_t nodes = 0;
      for (const tsp::tour& task : work.tasks()) {
        nodes += tsp::search(work.cities(), task, work.bound(), shorter);
      }
      work.worked(0, work.tasks().size(), nodes);
      CHECK(work.bound() == expected);
      CHECK(work.check().ok);
    }
  }
}

TEST_CASE("the travelling salesman's work is the same in every language") {
  // goroutine/main_test.go expects the same.
  tsp::problem work(parameters_of(10, 1));
  collector shorter(work);
  std::uint64_t nodes = 0;
  for (const tsp::tour& task : work.tasks()) {
    nodes += tsp::search(work.cities(), task, work.bound(), shorter);
  }
  CHECK(work.bound() == 2487);
  CHECK(nodes == 113'981);
}

TEST_CASE("the oracle of the shortest tour passes it and nothing else") {
  const auto verdict_on = [](auto&& spoil, std::uint64_t tasks_less = 0) {
    tsp::problem work(parameters_of(7, 1));
    tsp::tour found = shortest(work.cities());
    spoil(found, work);
    work.found(found);
    work.worked(2, work.tasks().size() - tasks_less, 1);
    return work.check().ok;
  };
  CHECK(verdict_on([](tsp::tour&, tsp::problem&) {}));
  CHECK_FALSE(verdict_on([](tsp::tour&, tsp::problem&) {}, 1));  // a task was lost
  CHECK_FALSE(tsp::problem(parameters_of(7, 1)).check().ok);
  CHECK_FALSE(verdict_on([](tsp::tour& found, tsp::problem&) { --found.length; }));
  CHECK_FALSE(verdict_on([](tsp::tour& found, tsp::problem&) { --found.cities; }));
  CHECK_FALSE(verdict_on([](tsp::tour& found, tsp::problem&) { found.order[3] = found.order[2]; }));
  CHECK_FALSE(verdict_on([](tsp::tour& found, tsp::problem&) { found.order[3] = 200; }));
  // Another order, of the right length as it says.
  CHECK_FALSE(verdict_on(
      [](tsp::tour& found, tsp::problem&) { std::swap(found.order[1], found.order[3]); }));
  CHECK_FALSE(verdict_on([](tsp::tour&, tsp::problem& work) { work.bound() = 1; }));
}

}  // namespace heddle::lab::tsp_oracle_test
