#include "harness/random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness/digest.hpp"

namespace heddle::lab::random_source_test {

TEST_CASE("random numbers and digests are the same in every language") {
  // harness_test.go expects the same.
  random_source random(1);
  digest numbers;
  for (int i = 0; i < 1000; ++i) {
    numbers.add(random.below(1000));
    numbers.add(static_cast<std::uint64_t>(1e6 * random.share()));
  }
  for (const int each : random.permutation(1000)) numbers.add(static_cast<std::uint64_t>(each));
  CHECK(numbers.text() == "4130352702321177433");
}

TEST_CASE("a permutation has each number once") {
  std::vector<int> order = random_source(7).permutation(100);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a digest tells the order, the number of numbers and each of their bits") {
  const auto of_all = [](std::initializer_list<std::uint64_t> numbers) {
    digest all;
    for (const std::uint64_t number : numbers) all.add(number);
    return all;
  };
  CHECK(of_all({1, 2}) == of_all({1, 2}));
  CHECK(of_all({1, 2}) != of_all({2, 1}));
  CHECK(of_all({0}) != of_all({0, 0}));
  for (int bit = 0; bit < 64; ++bit) {
    CHECK(of_all({std::uint64_t{1} << bit, 5}) != of_all({0, 5}));
  }
}

}  // namespace heddle::lab::random_source_test
