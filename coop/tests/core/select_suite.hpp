// Included once for each kind of strand.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/coop/select.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "strand_kinds.hpp"

namespace {

const int select_seeds = seeds(1000, 50);

}  // namespace

TEST_CASE(KIND "select takes what is there, the first by position") {
  scheduler s;
  channel<int> numbers(1);
  channel<std::string> words(1);
  s.spawn(BODY(&) {
    CHECK_FALSE(try_select(numbers.pop(), words.pop()).has_value());
    WAIT(words.push("one"));
    WAIT(numbers.push(1));
    const auto first = WAIT(select(numbers.pop(), words.pop()));
    CHECK(std::get<0>(first) == 1);
    const auto second = try_select(numbers.pop(), words.pop());
    REQUIRE(second.has_value());
    CHECK(std::get<1>(*second) == "one");
    // Sending counts as well; what is not chosen happens not at all.
    CHECK(WAIT(select(numbers.pop(), numbers.push(7), words.push("two"))).index() == 1);
    CHECK(numbers.size() == 1);
    CHECK(words.size() == 0);
  });
  s.run();
}

TEST_CASE(KIND "every value goes through a select once, by any channel, and all ends by close") {
  under_policies(select_seeds, [](const scheduler_options& options) {
    for (const std::size_t capacity : {0, 1, 3}) {
      scheduler s(options);
      constexpr int each = 12;
      std::array<channel<std::unique_ptr<int>>, 3> lanes{channel<std::unique_ptr<int>>(capacity),
                                                         channel<std::unique_ptr<int>>(capacity),
                                                         channel<std::unique_ptr<int>>(capacity)};
      std::vector<int> seen(3 * each, 0);
      int open = 3;
      for (int lane = 0; lane < 3; ++lane) {
        // Its own lane first, or the next: whichever has room.
        s.spawn(BODY(&, lane) {
          for (int i = 0; i < each; ++i) {
            auto value = std::make_unique<int>(lane * each + i);
            auto sent =
                WAIT(select(lanes[static_cast<std::size_t>(lane)].push_from(value),
                            lanes[static_cast<std::size_t>((lane + 1) % 3)].push_from(value)));
            REQUIRE(value == nullptr);
            REQUIRE(std::visit([](bool taken) { return taken; }, sent));
            if (i % 3 == 0) WAIT(yield());
          }
          if (--open == 0) {
            for (auto& channel : lanes) channel.close();
          }
        });
      }
      for (int reader = 0; reader < 2; ++reader) {
        s.spawn(BODY(&) {
          for (int live = 3; live > 0;) {
            auto got = WAIT(select(lanes[0].pop(), lanes[1].pop(), lanes[2].pop()));
            auto value = std::visit([](auto& one) { return std::move(one); }, got);
            if (!value) {
              // This one is closed and empty. The others may have values left.
              for (auto& lane : lanes) {
                while (auto rest = WAIT(lane.pop())) ++seen[static_cast<std::size_t>(**rest)];
              }
              live = 0;
            } else {
              ++seen[static_cast<std::size_t>(**value)];
            }
          }
        });
      }
      s.run();
      for (const int count : seen) REQUIRE(count == 1);
    }
  });
}

TEST_CASE(KIND "two selects meet in a rendezvous, and neither does more than one thing") {
  under_policies(select_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    channel<int> a(0);
    channel<int> b(0);
    int sent = 0;
    int received = 0;
    for (int pair = 0; pair < 3; ++pair) {
      s.spawn(BODY(&, pair) {
        WAIT(select(a.push(pair), b.push(pair)));
        ++sent;
      });
      s.spawn(BODY(&) {
        const auto got = WAIT(select(b.pop(), a.pop()));
        REQUIRE(std::visit([](const auto& one) { return one.has_value(); }, got));
        ++received;
      });
    }
    s.run();
    REQUIRE(sent == 3);
    REQUIRE(received == 3);
    REQUIRE_FALSE(try_select(a.pop(), b.pop()).has_value());
  });
}

TEST_CASE(KIND "a select that times out or is cancelled neither sends nor takes") {
  under_policies(select_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    channel<std::unique_ptr<int>> full(0);
    channel<std::unique_ptr<int>> empty(0);
    int unwound = 0;
    s.spawn(BODY(&) {
      auto value = std::make_unique<int>(1);
      const auto chosen = WAIT(within(1s, select(empty.pop(), full.push_from(value))));
      REQUIRE_FALSE(chosen.has_value());
      REQUIRE(value != nullptr);
    });
    auto victim = s.spawn(BODY(&) {
      auto value = std::make_unique<int>(2);
      const exit_counter guard{unwound};
      WAIT(select(empty.pop(), full.push_from(value)));
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(2s));
      victim.cancel();
      REQUIRE_FALSE(try_select(full.pop(), empty.push(nullptr)).has_value());
      WAIT(yield());
      REQUIRE_FALSE(try_select(full.pop(), empty.push(nullptr)).has_value());
    });
    s.run();
    REQUIRE(unwound == 1);
  });
}

TEST_CASE(KIND "close wakes a select, and a value that came before the close is not lost") {
  under_policies(select_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    channel<int> a(4);
    channel<int> b(4);
    int sum = 0;
    bool closed = false;
    s.spawn(BODY(&) {
      while (!closed) {
        const auto got = WAIT(select(a.pop(), b.pop()));
        const std::optional<int> value =
            std::visit([](const auto& one) -> std::optional<int> { return one; }, got);
        if (value) sum += *value;
        closed = !value;
      }
    });
    s.spawn(BODY(&) {
      WAIT(yield());
      b.close();        // the select is woken for this …
      WAIT(a.push(5));  // … and may find that, or have gone already
      a.close();
    });
    s.run();
    REQUIRE(closed);
    REQUIRE((sum == 5 || a.size() == 1));
  });
}

TEST_CASE(KIND "a select that waits for ever is reported with all its channels") {
  scheduler s;
  channel<int> a(0, "a");
  channel<int> b(0, "b");
  s.spawn(
      BODY(&) { WAIT(select(a.pop(), b.push(1))); }, "chooser");
  CHECK_THROWS_WITH_AS(
      s.run(),
      "deadlock: nothing can run any more, but 1 strand has not ended\n"
      "  strand 1 \"chooser\" waits for a value from channel \"a\" or room in channel \"b\"\n",
      deadlock);
}

TEST_CASE(KIND "a fair selection does each of those that can be done once in as many") {
  scheduler s;
  channel<int> a(1);
  channel<int> b(1);
  channel<int> c(1);
  channel<int> never(1);
  int fair[3] = {};
  int first[3] = {};
  s.spawn(BODY(&) {
    const auto fill = [&] {
      static_cast<void>(try_select(a.push(0)));
      static_cast<void>(try_select(b.push(1)));
      static_cast<void>(try_select(c.push(2)));
    };
    for (int i = 0; i < 300; ++i) {
      fill();
      ++fair[WAIT(select_fair(a.pop(), b.pop(), c.pop())).index()];
      fill();
      ++first[WAIT(select(a.pop(), b.pop(), c.pop())).index()];
    }
    for (int i = 0; i < 8; ++i) {  // wherever it begins, it finds the one that can be done
      static_cast<void>(try_select(c.push(2)));
      static_cast<void>(try_select(a.pop()));
      static_cast<void>(try_select(b.pop()));
      CHECK(WAIT(select_fair(never.pop(), a.pop(), b.pop(), c.pop())).index() == 3);
    }
  });
  s.run();
  for (const int times : fair) CHECK(times == 100);
  CHECK(first[0] == 300);
  std::string trace;
  s.spawn(BODY(&) {  // and waits, if none can be
    trace += std::to_string(WAIT(select_fair(a.pop(), never.pop())).index());
  });
  s.spawn(BODY(&) { CHECK(WAIT(never.push(1))); });
  s.run();
  CHECK(trace == "1");
}
