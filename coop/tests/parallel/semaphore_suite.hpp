// Included once for each kind of strand.
#include <algorithm>
#include <string>
#include <vector>

#include "heddle/coop/parallel/semaphore.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "a semaphore of groups admits as many as it has permits") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore places(2, "places");
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    constexpr int strands = 9;
    constexpr int entries = 200;
    for (int i = 0; i < strands; ++i) {
      g[static_cast<std::size_t>(i) % g.size()].spawn(BODY(&, i) {
        for (int entry = 0; entry < entries; ++entry) {
          WAIT(places.P());
          const int now = ++inside;
          if (now > most) most = now;
          if ((entry + i) % 3 == 0) WAIT(yield());
          --inside;
          places.V();
          if ((entry + i) % 5 == 0) WAIT(yield());
        }
      });
    }
    g.run();
    REQUIRE(most <= 2);
    REQUIRE(places.permits() == 2);
    REQUIRE(places.p_count() == strands * entries);
    REQUIRE(places.blocked_p_count() <= strands * entries);
  });
}

// The protected variable is not atomic: ThreadSanitizer checks that each hand-over orders its
// accesses.
TEST_CASE(KIND "what was written before a V is there after its P") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore turn(1);
    std::vector<int> shared;
    for (std::size_t i = 0; i < 2 * g.size(); ++i) {
      g[i % g.size()].spawn(BODY(&) {
        for (int k = 0; k < 300; ++k) {
          WAIT(turn.P());
          shared.push_back(k);
          turn.V();
        }
      });
    }
    g.run();
    REQUIRE(shared.size() == 2 * g.size() * 300);
  });
}

TEST_CASE(KIND "permits of groups go to those who wait in the order in which they came") {
  parallel::groups g({.count = 2});
  parallel::semaphore gate(0, "gate");
  parallel::semaphore next(0);
  std::string trace;
  for (int i = 0; i < 4; ++i) {
    g[static_cast<std::size_t>(i) % 2].spawn(BODY(&, i) {
      while (gate.blocked_p_count() != static_cast<std::uint64_t>(i)) WAIT(sleep_for(50us));
      WAIT(gate.P());
      trace += static_cast<char>('a' + i);
      next.V();
    });
  }
  g[0].spawn(BODY(&) {
    while (gate.blocked_p_count() != 4) WAIT(sleep_for(50us));
    for (int i = 0; i < 4; ++i) {
      gate.V();
      CHECK_FALSE(gate.try_P());
      WAIT(next.P());
    }
  });
  g.run();
  CHECK(trace == "abcd");
}

TEST_CASE(KIND "no permit of groups is lost or made by timeouts and cancellations") {
  stress(12, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore permits(2);
    std::atomic<int> granted{0};
    std::atomic<int> given_up{0};
    struct permit {
      parallel::semaphore& permits;
      ~permit() { permits.V(); }
    };
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i].spawn(BODY(&, i) {
        scheduler& own = g[i].scheduler();
        std::vector<strand<>> all;
        for (int k = 0; k < 6; ++k) {
          all.push_back(own.spawn(BODY(&, k) {
            struct counter {
              std::atomic<int>& given_up;
              bool ended = false;
              ~counter() { given_up += ended ? 0 : 1; }
            } count{given_up};
            for (int entry = 0; entry < 40; ++entry) {
              if (!WAIT(within(std::chrono::microseconds(k * 7 + entry % 5), permits.P())))
                continue;
              const permit held{permits};
              ++granted;
              if (entry % 3 == 0) WAIT(sleep_for(5us));
              if (entry % 7 == 0) WAIT(yield());
            }
            count.ended = true;
          }));
        }
        WAIT(sleep_for(std::chrono::microseconds(50 * (round % 5))));
        all[1].cancel();
        WAIT(yield());
        all[4].cancel();
      });
    }
    g.run();
    REQUIRE(permits.permits() == 2);
    REQUIRE(granted > 0);
    REQUIRE(given_up <= static_cast<int>(2 * g.size()));
    REQUIRE(permits.p_count() == static_cast<std::uint64_t>(granted.load()));
  });
}

TEST_CASE(KIND "a semaphore of groups may be gone as soon as its last P has its permit") {
  stress(4, [](int round) {
    parallel::groups g(varied(round));
    int done = 0;
    g[0].spawn(BODY(&) {
      for (; done < 500; ++done) {
        auto over = std::make_unique<parallel::semaphore>(0);
        g[1].spawn([&over = *over] { over.V(); });
        WAIT(over->P());
      }
    });
    g.run();
    REQUIRE(done == 500);
  });
}

TEST_CASE(KIND "a semaphore of groups serves a scheduler that is alone") {
  scheduler s;
  parallel::semaphore gate(1, "gate");
  std::string trace;
  for (const char letter : {'a', 'b'}) {
    s.spawn(BODY(&, letter) {
      WAIT(gate.P());
      trace += letter;
      WAIT(yield());
      trace += letter;
      gate.V();
    });
  }
  s.run();
  CHECK(trace == "aabb");
}

TEST_CASE(KIND "guards of permits admit as many strands of groups as there are permits") {
  stress(4, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore places(2, "places");
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    for (std::size_t i = 0; i < 3 * g.size(); ++i) {
      g[i % g.size()].spawn(BODY(&, i) {
        for (int entry = 0; entry < 50; ++entry) {
          const auto place = WAIT(places.scoped_acquire());
          const int now = ++inside;
          if (now > most) most = now;
          if (static_cast<std::size_t>(entry) % 3 == i % 3) WAIT(yield());
          --inside;
        }
      });
    }
    g.run();
    REQUIRE(most <= 2);
    REQUIRE(places.permits() == 2);
  });
}
