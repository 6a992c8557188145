// Included once for each kind of strand: no error is lost, and each names its strand and cause.
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/when.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "strand_kinds.hpp"

TEST_CASE(KIND "what a strand throws is thrown by run() if its handle is held and never joined") {
  scheduler s;
  auto fails = s.spawn(BODY() {
    WAIT(yield());
    throw std::runtime_error("nobody joins");
  });
  auto cancelled = s.spawn(BODY() {
    bool told = false;
    try {
      WAIT(sleep_for(1h));
    } catch (...) {
      told = true;
    }
    WAIT(yield());
    if (told) throw std::runtime_error("thrown while it is cancelled");
  });
  s.spawn(BODY(&) {
    WAIT(yield());
    WAIT(yield());
    WAIT(yield());
    cancelled.cancel();
  });
  CHECK_THROWS_WITH_AS(s.run(), "nobody joins", std::runtime_error);
  CHECK_NOTHROW(s.run());  // once
  auto again = s.spawn(BODY() {
    try {
      WAIT(sleep_for(1h));
    } catch (...) {
    }
    throw std::runtime_error("thrown while it is cancelled");
  });
  s.spawn(BODY(&) {
    WAIT(yield());
    again.cancel();
  });
  CHECK_THROWS_WITH_AS(s.run(), "thrown while it is cancelled", std::runtime_error);
}

TEST_CASE(KIND "what a strand throws is thrown by run() if its handle goes after its end") {
  scheduler s;
  s.spawn(BODY(&) {
    auto fails = s.spawn(BODY() {
      WAIT(yield());
      throw std::runtime_error("dropped");
    });
    while (!fails.done()) WAIT(yield());
  });
  CHECK_THROWS_WITH_AS(s.run(), "dropped", std::runtime_error);
}

TEST_CASE(KIND "what was joined, alone or with others, run() does not throw") {
  scheduler s;
  int told = 0;
  std::vector<strand<>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(s.spawn(BODY(i) {
      for (int turn = 0; turn < i; ++turn) WAIT(yield());
      throw std::runtime_error(std::to_string(i));
    }));
  }
  s.spawn(BODY(&) {
    CHECK_THROWS_WITH_AS(WAIT(when_all(all[0], all[1], all[2])), "0", std::runtime_error);
    ++told;
    CHECK_THROWS_WITH_AS(WAIT(all[3].join()), "3", std::runtime_error);
    ++told;
  });
  CHECK_NOTHROW(s.run());
  CHECK(told == 2);
}

TEST_CASE(KIND "a deadlock names those that have failed, and why") {
  scheduler s;
  heddle::coop::semaphore filled(0, "filled");
  auto fails = s.spawn(
      BODY() {
        WAIT(yield());
        throw std::runtime_error("no more paper");
      },
      "producer");
  s.spawn(
      BODY(&) { WAIT(filled.P()); }, "consumer");
  CHECK_THROWS_WITH_AS(s.run(),
                       "deadlock: nothing can run any more, but 1 strand has not ended\n"
                       "  strand 2 \"consumer\" waits for semaphore \"filled\"\n"
                       "  strand 1 \"producer\" has ended by an exception, and nobody joins it: no "
                       "more paper\n",
                       deadlock);
}

TEST_CASE(KIND "a second join of a result that was moved out throws, and names the strand") {
  scheduler s;
  auto text = s.spawn(
      BODY_OF(std::string) {
        WAIT(yield());
        RETURN std::string(100, 'x');
      },
      "author");
  auto number = s.spawn(BODY_OF(int) {
    WAIT(yield());
    RETURN 42;
  });
  auto unnamed = s.spawn(BODY_OF(std::string) { RETURN "text"; });
  bool ran = false;
  s.spawn(BODY(&) {
    CHECK(WAIT(text.join()).size() == 100);
    CHECK_THROWS_WITH_AS(
        WAIT(text.join()),
        "strand 1 \"author\" was joined before, and its result was moved out then: join it once",
        std::logic_error);
    CHECK(WAIT(unnamed.join()) == "text");
    CHECK_THROWS_WITH_AS(
        WAIT(unnamed.join()),
        "strand 3 was joined before, and its result was moved out then: join it once",
        std::logic_error);
    CHECK(WAIT(number.join()) == 42);
    CHECK(WAIT(number.join()) == 42);
    ran = true;
  });
  s.run();
  CHECK(ran);
}

TEST_CASE(KIND "what a strand in a scope throws counts for more than that its body was cancelled") {
  scheduler s({.clock = clock_policy::simulated});
  auto around = s.spawn(BODY(&s) {
    const auto child = [](bool& waits) -> task<> {
      waits = true;
      try {
        co_await sleep_for(1h);
      } catch (...) {
      }
      throw std::runtime_error("cannot clean up");
    };
    bool waits = false;
#if STACKFUL
    in_scope(s, [&](scope& all) { all.spawn(child(waits)); });
#else
    co_await in_scope(s, [&](scope& all) -> task<> {
      all.spawn(child(waits));
      co_return;
    });
#endif
  });
  s.spawn(BODY(&) {
    WAIT(sleep_for(1s));
    around.cancel();
    CHECK_THROWS_WITH_AS(WAIT(around.join()), "cannot clean up", std::runtime_error);
    CHECK(s.now() == time_point{} + 1s);
  });
  s.run();
}

TEST_CASE(KIND "what a task throws when its time is over is thrown, and is no timeout") {
  scheduler s({.clock = clock_policy::simulated});
  const auto cleans_up = [](bool fails) -> task<int> {
    try {
      co_await sleep_for(1h);
    } catch (...) {
      if (!fails) throw;
    }
    throw std::runtime_error("cannot clean up");
  };
  s.spawn(BODY(&) {
    CHECK_THROWS_WITH_AS(WAIT(within(1s, cleans_up(true))), "cannot clean up", std::runtime_error);
    CHECK_FALSE(WAIT(within(1s, cleans_up(false))).has_value());
  });
  s.run();
  CHECK(s.now() == time_point{} + 2s);
}

TEST_CASE(KIND "a limit takes what results in a reference") {
  scheduler s({.clock = clock_policy::simulated});
  int value = 1;
  const auto finds = [](int& found, duration after) -> task<int&> {
    co_await sleep_for(after);
    co_return found;
  };
  s.spawn(BODY(&) {
    CHECK(&WAIT(within(2s, finds(value, 1s)))->get() == &value);
    CHECK_FALSE(WAIT(within(1s, finds(value, 2s))).has_value());
    auto handle = s.spawn(finds(value, 1s));
    CHECK(&WAIT(within(2s, handle.join()))->get() == &value);
  });
  s.run();
}

TEST_CASE(KIND "an overlong limit or sleep of any unit never ends") {
  using std::chrono::hours;
  scheduler s({.clock = clock_policy::simulated});
  s.spawn(BODY(&) {
    CHECK_FALSE(WAIT(within(5ms, sleep_for(hours::max()))));
    CHECK(s.now() == time_point{} + 5ms);
    CHECK_FALSE(WAIT(within(5ms, sleep_for(std::chrono::years::max()))));
    CHECK(WAIT(within(hours::max(), sleep_for(5ms))));
    CHECK(s.now() == time_point{} + 15ms);
    CHECK(WAIT(within(hours::max(), []() -> task<> { co_await sleep_for(5ms); }())));
    CHECK(s.now() == time_point{} + 20ms);
    WAIT(sleep_for(hours::min()));  // over at once
    WAIT(sleep_for(std::chrono::duration<double>(0.01)));
    CHECK(s.now() == time_point{} + 30ms);
    using clock = std::chrono::steady_clock;
    CHECK_FALSE(WAIT(within(1s, sleep_until(std::chrono::time_point<clock, hours>::max()))));
  });
  s.run();
  CHECK(s.now() == time_point{} + 1s + 30ms);
}
