// Tests of moves that concern fibers alone: exceptions that are being handled, tasks that they
// await, and thread_local variables, which only optimised code can get wrong.
#include <array>
#include <stdexcept>
#include <string>

#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "helpers.hpp"

namespace {

thread_local int of_this_thread = -1;

// Functions that are not inlined, as move_to() asks of fibers that move. GCC for x86-64 keeps no
// address in code for executables, inlined or not.
#if defined(__clang__)
#define OUT_OF_LINE [[gnu::noinline]]
#else
#define OUT_OF_LINE
#endif
OUT_OF_LINE int read_of_this_thread() { return of_this_thread; }
OUT_OF_LINE void add_to_this_thread(int added) { of_this_thread += added; }

}  // namespace

TEST_CASE("a fiber that moves inside a catch block keeps its exception, and each thread its own") {
  parallel::groups g({.count = 2});
  std::string caught;
  int others = 0;
  g[0].spawn([&] {
    for (int i = 0; i < 50; ++i) {
      try {
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (const std::runtime_error&) {
          await(parallel::move_to(g[static_cast<std::size_t>(i + 1) % 2]));
          await(yield());
          throw;
        }
      } catch (const std::runtime_error& error) {
        caught += error.what();
      }
    }
  });
  for (std::size_t i = 0; i < 2; ++i) {
    g[i].spawn([&others] {
      for (int k = 0; k < 200; ++k) {
        try {
          throw k;
        } catch (int number) {
          await(yield());
          if (number != k) ++others;
        }
      }
    });
  }
  g.run();
  std::string expected;
  for (int i = 0; i < 50; ++i) expected += std::to_string(i);
  CHECK(caught == expected);
  CHECK(others == 0);
}

TEST_CASE("a task moves the fiber that awaits it") {
  parallel::groups g({.count = 2});
  bool moved = false;
  g[0].spawn([&] {
    const auto there_and_back = [&](std::size_t i) -> task<int> {
      co_await parallel::move_to(g[1 - i]);
      co_await yield();
      co_await parallel::move_to(g[i]);
      co_await parallel::move_to(g[1]);
      co_return 7;
    };
    CHECK(await(there_and_back(0)) == 7);
    moved = parallel::group::current() == &g[1];
  });
  g.run();
  CHECK(moved);
}

TEST_CASE("a fiber that moves reads and writes the variables of the thread it is on") {
  parallel::groups g({.count = 2});
  int wrong = 0;
  for (std::size_t i = 0; i < 2; ++i) g[i].spawn([i] { of_this_thread = static_cast<int>(i); });
  g.run();
  std::array<int, 2> left{};
  g[0].spawn([&] {
    for (int k = 1; k <= 200; ++k) {
      const int before = read_of_this_thread();
      await(parallel::move_to(g[static_cast<std::size_t>(k) % 2]));
      const int after = read_of_this_thread();
      if (after % 2 != k % 2 || before % 2 == after % 2) ++wrong;
      add_to_this_thread(2);
    }
  });
  g.run();
  for (std::size_t i = 0; i < 2; ++i) g[i].spawn([&, i] { left[i] = of_this_thread; });
  g.run();
  CHECK(wrong == 0);
  CHECK(left == std::array<int, 2>{200, 201});
}
