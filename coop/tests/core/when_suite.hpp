// Included once for each kind of strand. TASK(x) awaits a task from either.
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/when.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "strand_kinds.hpp"

namespace {

const int when_seeds = seeds(500, 30);

#if !defined(HEDDLE_WHEN_SUITE_TASKS)
#define HEDDLE_WHEN_SUITE_TASKS

// Results in `value` after `length`, having counted its end, natural or not.
task<int> sleeper(duration length, int value, int& ended) {
  const exit_counter guard{ended};
  co_await sleep_for(length);
  co_return value;
}

task<int> failing(duration length, std::string what, int& ended) {
  const exit_counter guard{ended};
  co_await sleep_for(length);
  throw std::runtime_error(what);
}

task<> fails_when_cancelled(int& ended) {
  const exit_counter guard{ended};
  try {
    co_await sleep_for(1000h);
  } catch (const cancelled&) {
    throw std::runtime_error("while cleaning up");
  }
}

task<std::unique_ptr<int>> owner(duration length, int value) {
  co_await sleep_for(length);
  co_return std::make_unique<int>(value);
}

#endif

}  // namespace

TEST_CASE(KIND "when_all results in all results, when_any in who was first") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      auto one = s.spawn(BODY_OF(int) {
        WAIT(sleep_for(3s));
        RETURN 1;
      });
      auto two = s.spawn(BODY_OF(std::unique_ptr<int>) {
        WAIT(sleep_for(1s));
        RETURN std::make_unique<int>(2);
      });
      auto three = s.spawn(BODY() { WAIT(sleep_for(2s)); });
      REQUIRE_FALSE(WAIT(within(500ms, when_any(one, two, three))).has_value());
      REQUIRE(WAIT(when_any(one, two, three)) == 1);
      REQUIRE(s.now() == time_point{} + 1s);
      REQUIRE(WAIT(when_any(one, three)) == 1);
      REQUIRE(s.now() == time_point{} + 2s);
      const auto results = WAIT(when_all(one, two, three));
      REQUIRE(s.now() == time_point{} + 3s);
      REQUIRE(std::get<0>(results) == 1);
      REQUIRE(*std::get<1>(results) == 2);
    });
    s.run();
    REQUIRE(s.now() == time_point{} + 3s);
  });
}

TEST_CASE(KIND "when_all throws the first error by position, after all have ended") {
  scheduler s({.clock = clock_policy::simulated});
  std::string seen;
  s.spawn(BODY(&) {
    auto late = s.spawn(BODY() {
      WAIT(sleep_for(3s));
      throw std::runtime_error("late");
    });
    auto soon = s.spawn(BODY() {
      WAIT(sleep_for(1s));
      throw std::runtime_error("soon");
    });
    try {
      WAIT(when_all(late, soon));
    } catch (const std::runtime_error& error) {
      seen = error.what();
    }
  });
  s.run();
  CHECK(seen == "late");
}

TEST_CASE(KIND "when_all and when_any take a range of strands") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      std::vector<strand<std::unique_ptr<int>>> owners;
      std::vector<strand<>> sleepers;
      for (int i = 0; i < 5; ++i) {
        owners.push_back(s.spawn(owner((5 - i) * 1s, i)));
        sleepers.push_back(s.spawn(BODY(i) { WAIT(sleep_for((i + 3) * 1s)); }));
      }
      REQUIRE(WAIT(when_any(owners)) == 4);
      REQUIRE(s.now() == time_point{} + 1s);
      REQUIRE_FALSE(WAIT(within(1s, when_any(sleepers))).has_value());
      REQUIRE(WAIT(when_any(sleepers)) == 0);
      const auto values = WAIT(when_all(owners));
      REQUIRE(values.size() == 5);
      for (int i = 0; i < 5; ++i) REQUIRE(*values[static_cast<std::size_t>(i)] == i);
      REQUIRE_FALSE(WAIT(within(1s, when_all(sleepers))));
      WAIT(when_all(sleepers));
      REQUIRE(s.now() == time_point{} + 7s);
      REQUIRE(WAIT(when_all(std::vector<strand<int>>{})).empty());
      CHECK_THROWS_AS(static_cast<void>(when_any(std::vector<strand<int>>{})),
                      std::invalid_argument);
    });
    s.run();
  });
}

TEST_CASE(KIND "the first task wins, and the losers are cancelled and joined") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      int ended = 0;  // the losers refer to it, so they must not outlive the wait
      auto first = WAIT(when_any(sleeper(3s, 1, ended), owner(1s, 2), fails_when_cancelled(ended),
                                 on_fiber([&ended] {
                                   const exit_counter guard{ended};
                                   await(sleep_for(1000h));
                                   return std::string("never");
                                 })));
      REQUIRE(first.index() == 1);
      REQUIRE(*std::get<1>(first) == 2);
      REQUIRE(ended <= 3);
      REQUIRE(s.now() == time_point{} + 1s);
      REQUIRE(s.alive() == 1);

      std::vector<task<int>> many;
      for (int i = 0; i < 5; ++i) many.push_back(sleeper((5 - i) * 1s, i, ended));
      const auto won = WAIT(when_any(std::move(many)));
      REQUIRE(won.index == 4);
      REQUIRE(won.value == 4);
      REQUIRE(s.now() == time_point{} + 2s);
      REQUIRE(s.alive() == 1);
    });
    s.run();
  });
}

TEST_CASE(KIND "a task that fails first wins too; one that fails cancels all of when_all") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      int ended = 0;
      std::string seen;
      try {
        WAIT(when_any(sleeper(3s, 1, ended), failing(1s, "first", ended)));
      } catch (const std::runtime_error& error) {
        seen = error.what();
      }
      REQUIRE(seen == "first");
      try {
        WAIT(when_all(sleeper(1000h, 1, ended), failing(2s, "second", ended),
                      failing(1s, "third", ended)));
      } catch (const std::runtime_error& error) {
        seen = error.what();
      }
      REQUIRE(seen == "third");
      REQUIRE(s.now() == time_point{} + 2s);
      REQUIRE(ended == 5);
      std::vector<task<int>> many;
      for (int i = 0; i < 3; ++i) many.push_back(sleeper(1000h, i, ended));
      many.push_back(failing(1s, "fourth", ended));
      try {
        WAIT(when_all(std::move(many)));
      } catch (const std::runtime_error& error) {
        seen = error.what();
      }
      REQUIRE(seen == "fourth");
      REQUIRE(ended == 9);
      REQUIRE(s.alive() == 1);
    });
    s.run();
  });
}

TEST_CASE(KIND "tasks of different types, of one type and of none run at the same time") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      int ended = 0;
      auto [number, pointer, nothing] = WAIT(
          when_all(sleeper(2s, 1, ended), owner(3s, 2), on_fiber([] { await(sleep_for(1s)); })));
      static_assert(std::is_same_v<decltype(nothing), std::monostate>);
      REQUIRE(number == 1);
      REQUIRE(*pointer == 2);
      REQUIRE(s.now() == time_point{} + 3s);
      std::vector<task<int>> many;
      for (int i = 0; i < 10; ++i) many.push_back(sleeper(i * 1s, i, ended));
      const std::vector<int> values = WAIT(when_all(std::move(many)));
      for (int i = 0; i < 10; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == i);
      REQUIRE(s.now() == time_point{} + 12s);
      REQUIRE(WAIT(when_all(std::vector<task<int>>{})).empty());
      WAIT(when_all(std::vector<task<>>{}));
      bool refused = false;
      try {
        WAIT(when_any(std::vector<task<int>>{}));
      } catch (const std::invalid_argument&) {
        refused = true;
      }
      REQUIRE(refused);
    });
    s.run();
  });
}

TEST_CASE(KIND "cancelling the strand that waits for tasks cancels and joins them") {
  under_policies(when_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    int ended = 0;
    int begun = 0;
    for (const bool all : {true, false}) {
      auto waits = s.spawn(BODY(&, all) {
        const exit_counter guard{ended};
        ++begun;
        if (all) {
          WAIT(when_all(sleeper(1000h, 1, ended), sleeper(1000h, 2, ended)));
        } else {
          WAIT(when_any(sleeper(1000h, 1, ended), sleeper(1000h, 2, ended)));
        }
      });
      s.spawn(BODY(&, waits) {
        WAIT(sleep_for(1s));
        waits.cancel();
        bool told = false;
        try {
          WAIT(waits.join());
        } catch (const strand_cancelled&) {
          told = true;
        }
        REQUIRE(told);
        REQUIRE(s.now() == time_point{} + 1s);
      });
    }
    s.run();
    REQUIRE(begun == 2);
    REQUIRE(ended == 6);
  });
}
