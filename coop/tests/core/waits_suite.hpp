// Included once for each kind of strand.
#include <string>
#include <vector>

#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/wait_for.hpp"
#include "strand_kinds.hpp"

TEST_CASE(KIND "waitfor goes on at once if its predicate holds") {
  scheduler s;
  std::string trace;
  for (const char letter : {'a', 'b'}) {
    s.spawn(BODY(&trace, letter) {
      trace += letter;
      WAIT(wait_for([] { return true; }));
      trace += letter;
    });
  }
  s.run();
  CHECK(trace == "aabb");
}

TEST_CASE(KIND "waitfor evaluates its predicate once a turn, until it holds") {
  scheduler s;
  int evaluations = 0;
  int turns = 0;
  s.spawn(BODY(&) {
    WAIT(wait_for([&] {
      ++evaluations;
      return turns == 5;
    }));
    CHECK(turns == 5);  // nobody ran in between
  });
  s.spawn(BODY(&) {
    for (; turns < 9; ++turns) WAIT(yield());
  });
  s.run();
  CHECK(evaluations == 7);  // once by itself, then at each of six turns
}

TEST_CASE(KIND "strands that wait for each other's variables take turns") {
  under_policies(50, [](const scheduler_options& options) {
    scheduler s(options);
    int turn = 0;
    std::string trace;
    for (int i = 0; i < 3; ++i) {
      s.spawn(BODY(&, i) {
        for (int round = 0; round < 4; ++round) {
          WAIT(wait_for([&turn, i] { return turn % 3 == i; }));
          trace += static_cast<char>('a' + i);
          ++turn;
        }
      });
    }
    s.run();
    CHECK(trace == "abcabcabcabc");
  });
}

TEST_CASE(KIND "waitfor lets virtual time pass, and without a timer it is a deadlock") {
  under_policies(20, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      WAIT(wait_for([&s] { return s.now() >= time_point{} + 90s; }));
      CHECK(s.now() == time_point{} + 120s);
    });
    s.spawn(BODY() {
      for (int minute = 0; minute < 3; ++minute) WAIT(sleep_for(60s));
    });
    s.run();
    s.spawn(
        BODY() { WAIT(wait_for([] { return false; })); }, "hopeless");
    CHECK_THROWS_WITH_AS(s.run(),
                         "deadlock: nothing can run any more, but 1 strand has not ended\n"
                         "  strand 3 \"hopeless\" waits for its predicate to hold\n",
                         deadlock);
  });
}

TEST_CASE(KIND "waitfor sees the real clock if told that events come from outside") {
  scheduler s({.outside_events = true});
  const time_point until = s.now() + 2ms;
  s.spawn(BODY(&) { WAIT(wait_for([&] { return s.now() >= until; })); });
  s.run();
  CHECK(s.now() >= until);
}

TEST_CASE(KIND "waitfor can be limited and cancelled") {
  under_policies(20, [](const scheduler_options& options) {
    scheduler s(options);
    bool held = true;
    auto limited =
        s.spawn(BODY(&held) { held = WAIT(within(3s, wait_for([] { return false; }))); });
    auto endless = s.spawn(BODY() { WAIT(wait_for([] { return false; })); });
    s.spawn(BODY(&) {
      WAIT(limited.join());
      CHECK_FALSE(held);
      CHECK(s.now() == time_point{} + 3s);
      endless.cancel();
    });
    s.run();
  });
}

TEST_CASE(KIND "a predicate over watched variables is evaluated only when one changes") {
  scheduler s;
  watched<int> a;
  watched<int> b;
  int evaluations = 0;
  bool over = false;
  s.spawn(BODY(&) {
    const auto both = [&] {
      ++evaluations;
      return a + b == 10;
    };
    WAIT(wait_until(both, a, b, a));
    over = true;
  });
  s.spawn(BODY(&) {
    for (int turn = 0; turn < 100; ++turn) WAIT(yield());
    CHECK(evaluations == 1);
    a = 4;
    CHECK(evaluations == 2);
    b.update([](int& value) { value = 6; });
    CHECK(evaluations == 3);
    b += 1;  // woken already: not asked again
    CHECK(evaluations == 3);
    CHECK_FALSE(over);
  });
  s.run();
  CHECK(over);
}

TEST_CASE(KIND "watchers can be limited, cancelled, and are named in a deadlock") {
  scheduler s({.clock = clock_policy::simulated});
  watched<bool> door(false, "door");
  watched<bool> window(false, "window");
  bool opened = true;
  s.spawn(BODY(&) {
    opened = WAIT(within(5s, wait_until([&] { return door.get(); }, door)));
    door = true;  // nobody watches any more
  });
  auto cancelled_one =
      s.spawn(BODY(&) { WAIT(wait_until([&] { return door && window; }, door, window)); });
  s.spawn(BODY(&) {
    WAIT(sleep_for(1s));
    cancelled_one.cancel();
  });
  s.run();
  CHECK_FALSE(opened);
  s.spawn(BODY(&) { WAIT(wait_until([&] { return window.get(); }, window, door)); });
  CHECK_THROWS_WITH_AS(
      s.run(),
      "deadlock: nothing can run any more, but 1 strand has not ended\n"
      "  strand 4 waits for a change of variable \"window\" or a change of variable \"door\"\n",
      deadlock);
}
