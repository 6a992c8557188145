// Included once for each kind of strand: an end that is closed in each state of the other one.
#include "bodies.hpp"
#include "helpers.hpp"

namespace {

/// The outcome of a call, in words.
template <class Call>
std::string outcome_of(const Call& call) {
  try {
    call();
    return "replied";
  } catch (const link_closed& closed) {
    return closed.what();
  } catch (const handler_failed& failed) {
    return failed.type();
  }
}

}  // namespace

#if STACKFUL
#define OUTCOME(name, ...) \
  const std::string name = outcome_of([&] { static_cast<void>(WAIT(__VA_ARGS__)); })
#else
#define OUTCOME(name, ...)                 \
  std::string name = "replied";            \
  try {                                    \
    static_cast<void>(WAIT(__VA_ARGS__));  \
  } catch (const link_closed& closed) {    \
    name = closed.what();                  \
  } catch (const handler_failed& failed) { \
    name = failed.type();                  \
  }
#endif

TEST_CASE(KIND "a call to an end that is gone fails at once") {
  in_each_place([](auto& here, auto&, const auto& run) {
    auto ends = make_link<int, int>("gone");
    std::string got;
    { const auto dropped = std::move(ends.second); }
    here.spawn(BODY(&) {
      OUTCOME(first, ends.first.call(1));
      got = first;
      CHECK(ends.first.closed());
      CHECK_THROWS_AS(ends.first.send(5), link_closed);
      WAIT(ends.first.finished());
    });
    run();
    CHECK(got == "link \"gone\" was closed at its other end");
    CHECK(ends.first.returned() == 1);
    CHECK(ends.first.take_returned() == std::vector<int>{5});
    CHECK(ends.first.returned() == 0);
  });
}

TEST_CASE(KIND "calls that wait fail when the other end closes before it takes them up") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, int>("closing");
    std::vector<std::string> got;
    std::vector<int> returned;
    here.spawn(OWNER(&, end = std::move(client)) {
      scheduler& own = *detail::current_scheduler;
      std::vector<strand<>> callers;
      for (int i = 0; i < 3; ++i) {
        end.send(10 + i);
        callers.push_back(own.spawn(BODY(&, i) {
          OUTCOME(mine, end.call(i));
          got.push_back(mine);
        }));
      }
      for (const strand<>& each : callers) WAIT(each.join());
      WAIT(end.finished());
      returned = end.take_returned();
    });
    there.spawn(OWNER(end = std::move(server)) {
      while (end.queued() != 6) WAIT(sleep_for(50us));
      end.close();
    });
    run();
    REQUIRE(got.size() == 3);
    for (const std::string& each : got)
      CHECK(each == "link \"closing\" was closed at its other end");
    CHECK(returned == std::vector<int>{10, 11, 12});
  });
}

TEST_CASE(KIND "a push that waits ends when all messages before it have come back") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    constexpr int messages = 2000;
    auto [client, server] = make_link<int>("full");
    std::vector<int> returned;
    bool closed = false;
    here.spawn(OWNER(&, end = std::move(client)) {
      for (int i = 0; i < messages; ++i) end.send(i);
      try {
        WAIT(end.push(messages, messages));
      } catch (const link_closed&) {
        closed = true;
      }
      returned = end.take_returned();
    });
    there.spawn(OWNER(end = std::move(server)) {
      while (end.queued() != messages) WAIT(sleep_for(50us));
      end.close();
    });
    run();
    CHECK(closed);
    REQUIRE(returned.size() == messages + 1);
    CHECK(std::is_sorted(returned.begin(), returned.end()));
  });
}

TEST_CASE(KIND
          "what was sent before its sender closed is handled, or destroyed with the other end") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    for (const bool handles : {true, false}) {
      CAPTURE(handles);
      auto [client, server] = make_link<std::shared_ptr<int>>("left behind");
      const auto letter = std::make_shared<int>(0);
      int handled = 0;
      here.spawn(OWNER(&, end = std::move(client)) {
        for (int i = 0; i < 3; ++i) end.send(letter);
        end.close();
        RETURN;
      });
      there.spawn(OWNER(&, end = std::move(server)) {
        while (end.queued() != 3 || !end.closed()) WAIT(sleep_for(50us));
        if (handles) {
          end.on(HANDLER(void, std::shared_ptr<int> got, &) {
            handled += got == letter ? 1 : 0;
            RETURN;
          });
        }
        WAIT(end.finished());
      });
      run();
      CHECK(handled == (handles ? 3 : 0));
      CHECK(letter.use_count() == 1);
    }
  });
}

TEST_CASE(KIND "a call that is being handled fails when that end closes") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, int>();
    std::string got;
    int ended = 0;
    here.spawn(OWNER(&, end = std::move(client)) {
      OUTCOME(mine, end.call(1));
      got = mine;
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      end.on(HANDLER(int, int, &end, &ended) {
        end.close();
        WAIT(sleep_for(1ms));
        ++ended;
        RETURN 1;
      });
      WAIT(end.finished());  // the handler's end, too
      CHECK(ended == 1);
    });
    run();
    CHECK(got == "a link was closed at its other end");
    CHECK(ended == 1);
  });
}

TEST_CASE(KIND "a call fails when its own end is closed; the handler goes on") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto ends = make_link<int, int>("own");
    std::string got;
    int handled = 0;
    std::atomic<bool> begun{false};
    std::atomic<bool> over{false};
    here.spawn(BODY(&) {
      OUTCOME(mine, ends.first.call(1));
      got = mine;
      over = true;
    });
    here.spawn(BODY(&) {
      while (!begun) WAIT(sleep_for(50us));
      ends.first.send(2);
      ends.first.close();
      CHECK_THROWS_AS(ends.first.send(3), link_closed);
    });
    there.spawn(BODY(&) {
      ends.second.on(HANDLER(int, int, &) {
        begun = true;
        while (!over) WAIT(sleep_for(50us));
        ++handled;
        RETURN 0;
      });
      WAIT(ends.second.finished());
    });
    run();
    CHECK(got == "link \"own\" is closed");
    CHECK(handled == 2);
  });
}

TEST_CASE(KIND "handlers of an end that is destroyed are cancelled, and their callers told") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, int>();
    std::string got;
    struct counts {
      int begun = 0;
      int ended = 0;
    };
    const auto count = std::make_shared<counts>();
    here.spawn(OWNER(&, end = std::move(client)) {
      OUTCOME(mine, end.call(1));
      got = mine;
    });
    there.spawn(OWNER(count, end = std::move(server)) {
      end.on(HANDLER(int, int, count) {
        struct note {
          std::shared_ptr<counts> counted;
          explicit note(std::shared_ptr<counts> its) : counted(std::move(its)) { ++counted->begun; }
          ~note() { ++counted->ended; }
        } const noted{count};
        WAIT(sleep_for(1h));
        RETURN 1;
      });
      while (count->begun == 0) WAIT(sleep_for(50us));
    });
    run();
    CHECK(got == "a link was closed at its other end");
    CHECK(count->ended == 1);
  });
}

TEST_CASE(KIND "a server that is cancelled waits for its handlers, which are cancelled first") {
  in_each_place([](auto& here, auto& there, const auto& run) {
    auto [client, server] = make_link<int, int>();
    std::string got;
    std::string order;
    here.spawn(OWNER(&, end = std::move(client)) {
      OUTCOME(mine, end.call(1));
      got = mine;
    });
    there.spawn(OWNER(&, end = std::move(server)) {
      scheduler& own = *detail::current_scheduler;
      const strand<> serving = own.spawn(BODY(&) {
        struct note {
          std::string& order;
          ~note() { order += 's'; }
        } const noted{order};
        end.on(HANDLER(int, int, &order) {
          struct inner {
            std::string& order;
            explicit inner(std::string& its) : order(its) { order += '>'; }
            ~inner() { order += 'h'; }
          } const handled{order};
          WAIT(sleep_for(1h));
          RETURN 1;
        });
        WAIT(end.finished());
      });
      while (order.empty()) WAIT(sleep_for(50us));
      serving.cancel();
      try {
        WAIT(serving.join());
      } catch (const strand_cancelled&) {
        order += '!';
      }
    });
    run();
    CHECK(order == ">hs!");
    CHECK(got == "heddle::coop::cancelled");
  });
}

TEST_CASE(KIND "a call that nobody ever answers is a deadlock with a name") {
  parallel::groups g({.count = 2});
  auto ends = make_link<int, int>("unanswered");
  g[0].spawn(
      BODY(&) { WAIT(ends.first.call(1)); }, "asker");
  g[1].spawn(
      BODY(&) { WAIT(ends.second.finished()); }, "idler");
  std::string what;
  try {
    g.run();
  } catch (const deadlock& found) {
    what = found.what();
  }
  CHECK(what.find("\"asker\" waits for a reply over link \"unanswered\"") != std::string::npos);
  CHECK(what.find("\"idler\" waits for the end of link \"unanswered\"") != std::string::npos);
}

// Ends outlive their groups, which are destroyed with strands that wait, handle, and were sent.
TEST_CASE(KIND "groups are destroyed with a link in use") {
  for (int round = 0; round < 8; ++round) {
    auto ends = make_link<int, int>();
    parallel::groups g({.count = 2});
    g[0].spawn(BODY(&) {
      for (int i = 0; i < round; ++i) ends.first.send(i);
      WAIT(ends.first.call(1));
    });
    g[0].spawn(BODY(&) { WAIT(ends.first.call(2)); });
    g[1].spawn(BODY(&) {
      ends.second.on(
          HANDLER(int, int number, &ends) { RETURN WAIT(ends.second.call(number)); }, 3);
      WAIT(ends.second.finished());
    });
    CHECK_THROWS_AS(g.run(), deadlock);
  }
}

TEST_CASE(KIND "links are opened, used and closed at any time by many strands") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    std::atomic<long> replied{0};
    std::atomic<long> closed{0};
    std::atomic<long> handled{0};
    constexpr int links = 8;
    constexpr int calls = 60;
    for (int l = 0; l < links; ++l) {
      auto [left, right] = make_link<long, long>();
      const auto use = [&, l](link_end<long, long> own, int side) {
        return OWNER(&, l, side, end = std::move(own)) {
          scheduler& here = *detail::current_scheduler;
          end.on(HANDLER(long, long number, &) {
            if (number % 5 == 0) WAIT(yield());
            ++handled;
            RETURN number + 1;
          });
          std::vector<strand<>> callers;
          for (int c = 0; c < 3; ++c) {
            callers.push_back(here.spawn(BODY(&, c) {
              for (long i = 0; i < calls; ++i) {
                try {
                  if (i % 4 == 3) end.send(i);
                  if (i % 7 == 5) WAIT(end.push(i, 2));
                  if (i % 11 == 10) {
                    static_cast<void>(
                        WAIT(within(std::chrono::microseconds(i % 3), end.push(i, 1))));
                  }
                  if (i % 9 == 8) {
                    static_cast<void>(WAIT(within(std::chrono::microseconds(i % 3), end.call(i))));
                  } else if (WAIT(end.call(i)) != i + 1) {
                    replied = -1'000'000;
                  }
                  ++replied;
                } catch (const link_closed&) {
                  ++closed;
                }
                // One of the ends closes in the midst of it, in half of the links.
                if (l % 2 == 0 && side == 0 && c == 0 && i == 20 + l) end.close();
              }
            }));
          }
          if (l % 4 == 1) callers[2].cancel();
          for (const strand<>& each : callers) {
            try {
              WAIT(each.join());
            } catch (const strand_cancelled&) {
            }
          }
        };
      };
      g[static_cast<std::size_t>(l) % g.size()].spawn(use(std::move(left), 0));
      g[static_cast<std::size_t>(l + 1 + round % 2) % g.size()].spawn(use(std::move(right), 1));
    }
    g.run();
    REQUIRE(replied > 0);
    REQUIRE(closed > 0);
    REQUIRE(handled > 0);
    REQUIRE(replied + closed <= links * 2 * 3 * calls);
    REQUIRE(replied + closed >= links * 2 * 3 * calls - 4 * calls);
  });
}
