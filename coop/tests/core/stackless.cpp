#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coop/generator.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/stop_handle.hpp"
#include "heddle/coop/task.hpp"

namespace {

using heddle::coop::generator;
using heddle::coop::task;

static_assert(std::ranges::input_range<generator<int>>);
static_assert(!std::is_copy_constructible_v<generator<int>>);
static_assert(!std::is_copy_constructible_v<task<int>>);

generator<int> upto(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

generator<std::unique_ptr<int>&> owners() {
  for (int i = 1; i <= 3; ++i) {
    auto owner = std::make_unique<int>(i);
    co_yield owner;
  }
}

generator<int> fails_after(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
  throw std::runtime_error("after the last");
}

task<std::unique_ptr<int>> make(int value) { co_return std::make_unique<int>(value); }

task<int> add(int a, int b) {
  const auto left = co_await make(a);
  const auto right = co_await make(b);
  co_return *left + *right;
}

task<void> fails() {
  throw std::runtime_error("in a task");
  co_return;
}

task<std::string> catches() {
  try {
    co_await fails();
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  co_return "nothing thrown";
}

task<int&> refers(int& value) { co_return value; }

struct exit_count {
  int& count;
  ~exit_count() { ++count; }
};

task<void> suspends(int& destroyed) {
  const exit_count guard{destroyed};
  co_await std::suspend_always{};
}

template <class T>
T run(task<T> work) {
  while (!work.done()) work.resume();
  return work.result();
}

}  // namespace

TEST_CASE("a generator yields every element once, in order") {
  std::vector<int> seen;
  for (const int i : upto(5)) seen.push_back(i);
  CHECK(seen == std::vector{0, 1, 2, 3, 4});
  for ([[maybe_unused]] const int i : upto(0)) FAIL("an empty sequence has no element");
}

TEST_CASE("a generator hands out references that may be moved from") {
  int sum = 0;
  for (auto& owner : owners()) sum += *std::exchange(owner, nullptr);
  CHECK(sum == 6);
}

TEST_CASE("a generator's exception reaches the loop after the elements before it") {
  int seen = 0;
  CHECK_THROWS_WITH_AS(
      [&] {
        for ([[maybe_unused]] const int i : fails_after(3)) ++seen;
      }(),
      "after the last", std::runtime_error);
  CHECK(seen == 3);
}

TEST_CASE("a task awaits others and hands on move-only results") { CHECK(run(add(20, 22)) == 42); }

TEST_CASE("a task's exception reaches the one that awaits it") {
  CHECK(run(catches()) == "in a task");
  CHECK_THROWS_AS(run(fails()), std::runtime_error);
}

TEST_CASE("a task may result in a reference") {
  int value = 1;
  run(refers(value)) = 2;
  CHECK(value == 2);
}

TEST_CASE("destroying a suspended task destroys what lives in it") {
  int destroyed = 0;
  {
    const auto suspended = suspends(destroyed);
    suspended.resume();
    CHECK_FALSE(suspended.done());
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
}

TEST_CASE("a task that is stopped before its first turn is destroyed with its parameters") {
  struct counts_end {
    int* count;
    explicit counts_end(int& its_count) : count(&its_count) {}
    counts_end(counts_end&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~counts_end() {
      if (count != nullptr) ++*count;
    }
  };
  int ended = 0;
  bool ran = false;
  heddle::coop::scheduler s;
  const auto body = [&ran](counts_end) -> task<> {
    ran = true;
    co_return;
  };
  const heddle::coop::stop_handle stop = s.spawn(body(counts_end(ended))).stopper();
  stop.request_stop();
  s.run();
  CHECK(ended == 1);
  CHECK_FALSE(ran);
  CHECK(s.alive() == 0);
}
