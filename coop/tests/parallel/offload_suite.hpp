// Included once for each kind of strand.
#include <array>
#include <system_error>
#include <vector>

#include "blocking.hpp"
#include "heddle/coop/offload.hpp"
#include "helpers.hpp"

namespace {

/// Every other round, the order of turns is a random one.
parallel::groups_options varied_order(int round) {
  parallel::groups_options options = varied(round);
  if (round % 2 == 1) options.each.random_seed = static_cast<std::uint64_t>(round);
  return options;
}

}  // namespace

// Each group's sum is not atomic: ThreadSanitizer checks that a call and its strand take turns.
TEST_CASE(KIND "an offloaded call of a strand in a group results in that group, on its thread") {
  stress(6, [](int round) {
    thread_pool pool(2);
    parallel::groups g(varied_order(round));
    std::array<long, 3> sums{};
    constexpr long calls = 20;
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (int k = 0; k < 4; ++k) {
        g[i].spawn(BODY(&, i) {
          const auto own = gettid();
          for (long call = 0; call < calls; ++call) {
            long sent = call;
            const long doubled = WAIT(offload(pool, [&] {
              CHECK(gettid() != own);
              return sent *= 2;
            }));
            CHECK(gettid() == own);
            CHECK(parallel::group::current() == &g[i]);
            CHECK(sent == doubled);
            sums[i] += doubled;
          }
        });
      }
    }
    g.run();
    for (std::size_t i = 0; i < g.size(); ++i) REQUIRE(sums[i] == 4 * calls * (calls - 1));
  });
}

TEST_CASE(KIND "a call of a group that has not begun is cancelled; the others' calls go on") {
  thread_pool pool(1);
  parallel::groups g({.count = 2});
  latch door;
  std::atomic<bool> began{false};
  std::atomic<int> cancelled_calls{0};
  std::array<std::atomic<int>, 2> ran{};
  g[0].spawn(BODY(&) {
    WAIT(offload(pool, [&] {
      began = true;
      door.pass();
    }));
  });
  for (std::size_t i = 0; i < 2; ++i) {
    g[i].spawn(BODY(&, i) {
      while (!began) WAIT(yield());
      scheduler& own = g[i].scheduler();
      const auto kept = own.spawn(BODY(&, i) { WAIT(offload(pool, [&, i] { ++ran[i]; })); });
      const auto ended = own.spawn(BODY(&, i) { WAIT(offload(pool, [&, i] { ran[i] += 100; })); });
      const auto late = own.spawn(BODY_OF(bool, &, i) {
        RETURN WAIT(within(1ms, offload(pool, [&, i] { ran[i] += 100; })));
      });
      CHECK_FALSE(WAIT(late.join()));  // it has parked after the other two
      ended.cancel();
      WAIT(yield());
      CHECK(ended.done());
      CHECK_FALSE(kept.done());
      if (++cancelled_calls == 2) door.open();
      WAIT(kept.join());
      CHECK(ran[i] == 1);
    });
  }
  g.run();
  CHECK(cancelled_calls == 2);
}

TEST_CASE(KIND "each call of groups either never runs, or runs and its result is kept") {
  stress(12, [](int round) {
    thread_pool pool(1 + static_cast<unsigned>(round) % 3);
    parallel::groups g(varied_order(round));
    std::atomic<int> begun{0};
    std::array<int, 3> kept{};
    std::array<int, 3> given_up{};
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i].spawn(BODY(&, i) {
        std::vector<strand<>> all;
        for (int k = 0; k < 8; ++k) {
          all.push_back(g[i].scheduler().spawn(BODY(&, i, k) {
            for (int call = 0; call < 10; ++call) {
              const auto body = [&] {
                ++begun;
                if ((call + k) % 3 == 0) std::this_thread::sleep_for(20us);
                return call;
              };
              if ((call + k) % 2 == 0) {
                const auto limit = std::chrono::microseconds(k * 5 + call);
                const auto result = WAIT(within(limit, offload(pool, body)));
                ++(result ? kept : given_up)[i];
              } else {
                const int result = WAIT(offload(pool, body));  // CHECK() would catch `cancelled`
                CHECK(result == call);
                ++kept[i];
              }
              if ((call + k) % 4 == 0) WAIT(yield());
            }
          }));
        }
        for (std::size_t k = 0; k < all.size(); k += 3) {
          WAIT(sleep_for(std::chrono::microseconds(20 * (round % 7))));
          all[k].cancel();
        }
        for (const auto& each : all) {
          while (!each.done()) WAIT(sleep_for(20us));
        }
      });
    }
    g.run();
    int sum = 0;
    for (const int each : kept) sum += each;
    REQUIRE(begun == sum);
  });
}

TEST_CASE(KIND "strands of groups that are destroyed wait for their calls, if those have begun") {
  thread_pool pool(2);
  std::atomic<int> began{0};
  std::atomic<int> over{0};
  {
    parallel::groups g({.count = 2});
    for (std::size_t i = 0; i < 2; ++i) {
      for (int k = 0; k < 3; ++k) {
        g[i].spawn(BODY(&) {
          const int of_the_frame = 1;
          WAIT(offload(pool, [&] {
            ++began;
            std::this_thread::sleep_for(20ms);
            over += of_the_frame;
          }));
        });
      }
    }
    const address_limit limit;
    g[0].spawn(BODY(&) {
      while (began == 0) WAIT(yield());
      g[0].scheduler().spawn(stack_size{stack::maximum_bytes}, [] {});
    });
    CHECK_THROWS_AS(g.run(), std::system_error);  // there is no room for that stack
  }
  CHECK(began > 0);
  CHECK(over == began);
}
