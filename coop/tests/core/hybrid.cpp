#include "heddle/coop/hybrid.hpp"

#include <functional>
#include <stdexcept>
#include <string>

#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#define STACKFUL 1
#include "strand_kinds.hpp"

namespace {

const int hybrid_seeds = seeds(200, 10);
constexpr int levels = 100;

/// Fibers that await tasks that await fibers …, `levels` of them, around `innermost`.
struct nest {
  std::function<task<int>()> innermost;
  int begun = 0;
  int ended = 0;  // by whatever means

  int stackful(int level) {
    ++begun;
    const exit_counter guard{ended};
    WAIT(yield());
    const int below = await(stackless(level + 1));
    return below + 1;
  }
  task<int> stackless(int level) {
    if (level == levels) co_return co_await innermost();
    ++begun;
    const exit_counter guard{ended};
    const int below = co_await on_fiber([this, level] { return stackful(level + 1); });
    co_await yield();
    co_return below + 1;
  }
};

}  // namespace

TEST_CASE("a result comes up through 100 levels of fibers and tasks by turns") {
  under_policies(hybrid_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    nest all{[]() -> task<int> {
      co_await sleep_for(1s);
      co_return 1000;
    }};
    int fiber_result = 0;
    int task_result = 0;
    s.spawn([&] { fiber_result = all.stackful(1); });
    s.spawn([&]() -> task<> { task_result = co_await all.stackless(0); });
    s.run();
    REQUIRE(task_result == 1000 + levels);
    REQUIRE(fiber_result == 1000 + levels - 1);
    REQUIRE(all.begun == 2 * levels - 1);
    REQUIRE(all.ended == all.begun);
    REQUIRE(s.now() == time_point{} + 1s);
  });
}

TEST_CASE("an exception goes up through 100 levels of fibers and tasks by turns") {
  under_policies(hybrid_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    nest all{[]() -> task<int> {
      co_await sleep_for(1s);
      throw std::runtime_error("from the inside");
    }};
    std::string seen;
    s.spawn([&] {
      try {
        all.stackful(1);
      } catch (const std::runtime_error& error) {
        seen = error.what();
        REQUIRE(all.ended == levels - 1);
      }
    });
    s.run();
    REQUIRE(seen == "from the inside");
    REQUIRE(all.begun == levels - 1);
  });
}

TEST_CASE("a cancellation goes down through 100 levels, and is waited for") {
  under_policies(hybrid_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::semaphore never(0);
    int told = 0;
    nest all{[&]() -> task<int> {
      bool was_cancelled = false;
      try {
        co_await never.P();
      } catch (const cancelled&) {
        was_cancelled = true;
      }
      co_await sleep_for(1s);  // takes its time to clean up
      told += was_cancelled ? 1 : 0;
      throw cancelled{};
    }};
    auto outermost = s.spawn([&] { all.stackful(1); });
    s.spawn([&] {
      WAIT(sleep_for(1s));
      outermost.cancel();
      CHECK_THROWS_AS(WAIT(outermost.join()), strand_cancelled);
      REQUIRE(told == 1);
      REQUIRE(all.ended == levels - 1);
      REQUIRE(s.now() == time_point{} + 2s);
    });
    s.run();
    REQUIRE(all.ended == all.begun);
    never.V();
    REQUIRE(never.permits() == 1);
  });
}

TEST_CASE("the scheduler may be destroyed with 100 levels suspended") {
  heddle::coop::semaphore never(0, "never");
  nest all{[&never]() -> task<int> {
    co_await never.P();
    co_return 0;
  }};
  {
    scheduler s;
    s.spawn([&] { all.stackful(1); });
    s.spawn([&]() -> task<> { co_await all.stackless(0); });
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(all.begun == 2 * levels - 1);
    CHECK(all.ended == 0);
  }
  CHECK(all.ended == all.begun);
}

TEST_CASE("a task awaited by a fiber waits for everything that a fiber can") {
  under_policies(hybrid_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    channel<int> numbers(2);
    int sum = 0;
    bool timed_out = false;
    s.spawn([&] {
      await([](channel<int>& to) -> task<> {
        for (int i = 1; i <= 10; ++i) co_await to.push(i);
        to.close();
      }(numbers));
    });
    s.spawn([&] {
      sum = await([](channel<int>& from, bool& late) -> task<int> {
        int all = 0;
        while (const auto number = co_await from.pop()) all += *number;
        heddle::coop::semaphore never(0);
        late = !co_await within(1s, never.P());
        co_return all;
      }(numbers, timed_out));
    });
    s.run();
    REQUIRE(sum == 55);
    REQUIRE(timed_out);
  });
}
