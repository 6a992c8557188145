#include "heddle/coop/recursive_generator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using heddle::coop::recursive_generator;

static_assert(std::ranges::input_range<recursive_generator<int>>);
static_assert(!std::is_copy_constructible_v<recursive_generator<int>>);

// The numbers [from, to) from the nodes of a balanced binary tree, in order.
recursive_generator<int> in_order(int from, int to) {
  if (from == to) co_return;
  const int middle = from + (to - from) / 2;
  co_yield in_order(from, middle);
  co_yield middle;
  co_yield in_order(middle + 1, to);
}

// A list as a tree without left branches: element i comes from i levels down.
recursive_generator<int> nested(int level, int levels) {
  co_yield level;
  if (level + 1 < levels) co_yield nested(level + 1, levels);
}

recursive_generator<int> empty() { co_return; }

recursive_generator<int> many_empty(int count) {
  for (int i = 0; i < count; ++i) co_yield empty();
  co_yield count;
}

recursive_generator<int> fails(int levels) {
  if (levels == 0) throw std::runtime_error("at the bottom");
  co_yield levels;
  co_yield fails(levels - 1);
}

// Catches what an inner one throws, and goes on.
recursive_generator<int> mends(int levels) {
  bool failed = false;
  try {
    co_yield fails(levels);
  } catch (const std::runtime_error&) {
    failed = true;
  }
  if (failed) co_yield -1;
  co_yield fails(0);
}

struct exit_log {
  std::vector<int>& log;
  int level;
  ~exit_log() { log.push_back(level); }
};

recursive_generator<int> logged(int level, int levels, std::vector<int>& log) {
  const exit_log guard{log, level};
  if (level == levels) {
    co_yield level;
  } else {
    co_yield logged(level + 1, levels, log);
  }
}

recursive_generator<std::unique_ptr<int>&> owners(int levels) {
  auto owner = std::make_unique<int>(levels);
  co_yield owner;
  if (levels > 0) co_yield owners(levels - 1);
}

recursive_generator<int> yields(recursive_generator<int> inner) { co_yield std::move(inner); }

}  // namespace

TEST_CASE("a recursive generator yields the elements of the inner ones in their place") {
  for (const int count : {0, 1, 2, 3, 1000}) {
    std::vector<int> seen;
    for (const int value : in_order(0, count)) seen.push_back(value);
    REQUIRE(seen.size() == static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("a recursive generator hands out references that may be moved from") {
  int sum = 0;
  for (auto& owner : owners(4)) sum += *std::exchange(owner, nullptr);
  CHECK(sum == 10);
}

TEST_CASE("a recursive generator goes as deep as memory does") {
  constexpr int levels = 300'000;
  int expected = 0;
  for (const int level : nested(0, levels)) REQUIRE(level == expected++);
  CHECK(expected == levels);
  // The same depth, left early: destroying does not nest calls either.
  auto left_early = nested(0, levels);
  auto it = left_early.begin();
  while (*it != levels - 1) ++it;
}

TEST_CASE("inner generators without elements cost no stack") {
  for (const int value : many_empty(300'000)) CHECK(value == 300'000);
}

TEST_CASE("what an inner generator throws comes out of the co_yield around it") {
  std::vector<int> seen;
  CHECK_THROWS_WITH_AS(
      [&] {
        for (const int value : mends(3)) seen.push_back(value);
      }(),
      "at the bottom", std::runtime_error);
  CHECK(seen == std::vector{3, 2, 1, -1});
}

TEST_CASE("leaving the loop destroys the bodies from the inside") {
  std::vector<int> log;
  {
    auto generator = logged(0, 4, log);
    CHECK(*generator.begin() == 4);
    CHECK(log.empty());
  }
  CHECK(log == std::vector{4, 3, 2, 1, 0});
  log.clear();
  { const auto never_begun = logged(0, 4, log); }
  CHECK(log.empty());
}

TEST_CASE("a recursive generator that was moved from is empty") {
  auto from = in_order(0, 3);
  std::vector<int> seen;
  for (const int value : yields(std::move(from))) seen.push_back(value);
  for (const int value : yields(std::move(from))) seen.push_back(value);  // NOLINT: on purpose
  CHECK(seen == std::vector{0, 1, 2});
}

TEST_CASE("an exception passes through a deep nest without nesting calls") {
  int seen = 0;
  CHECK_THROWS_WITH_AS(
      [&] {
        for ([[maybe_unused]] const int value : fails(2000)) ++seen;
      }(),
      "at the bottom", std::runtime_error);
  CHECK(seen == 2000);
}
