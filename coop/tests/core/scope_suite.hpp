// Included once for each kind of strand. IN_SCOPE(s, body) runs a body in a scope from either kind.
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "strand_kinds.hpp"

#if STACKFUL
#define IN_SCOPE(...) ::heddle::coop::in_scope(__VA_ARGS__)
#define SCOPE_BODY(name, ...) [__VA_ARGS__](::heddle::coop::scope & name)
#define END_BODY
#else
#define IN_SCOPE(...) (co_await ::heddle::coop::in_scope(__VA_ARGS__))
#define SCOPE_BODY(name, ...) [__VA_ARGS__](::heddle::coop::scope & name) -> ::heddle::coop::task<>
#define END_BODY co_return
#endif

namespace {

const int scope_seeds = seeds(500, 30);

}  // namespace

TEST_CASE(KIND "a scope ends after the strands in it") {
  under_policies(scope_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      int ended = 0;  // in this block, to which the strands refer
      IN_SCOPE(
          s, SCOPE_BODY(children, &) {
            for (int i = 0; i < 5; ++i) {
              children.spawn(BODY(&ended, i) {
                WAIT(sleep_for(i * 1ms));
                ++ended;
              });
            }
            END_BODY;
          });
      REQUIRE(ended == 5);
    });
    s.run();
  });
}

TEST_CASE(KIND "a strand that fails cancels the others in its scope, whose destructors run") {
  under_policies(scope_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    int destroyed = 0;
    std::string seen;
    s.spawn(BODY(&) {
      try {
        IN_SCOPE(
            s, SCOPE_BODY(children, &) {
              for (int i = 0; i < 4; ++i) {
                children.spawn(BODY(&destroyed) {
                  const exit_counter guard{destroyed};
                  WAIT(sleep_for(1000h));
                });
              }
              children.spawn(BODY() {
                WAIT(sleep_for(1s));
                throw std::runtime_error("one of five");
              });
              END_BODY;
            });
      } catch (const std::runtime_error& error) {
        seen = error.what();
      }
    });
    s.run();
    REQUIRE(seen == "one of five");
    REQUIRE(destroyed == 4);
    REQUIRE(s.now() == time_point{} + 1s);
  });
}

TEST_CASE(KIND "cancelling a strand cancels the scopes in it, to any depth, and waits for them") {
  under_policies(scope_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    int cleaned = 0;
    auto outer = s.spawn(BODY(&) {
      const exit_counter last{cleaned};
      IN_SCOPE(
          s, SCOPE_BODY(children, &) {
            for (int i = 0; i < 3; ++i) {
              children.spawn(BODY(&) {
                IN_SCOPE(
                    s, SCOPE_BODY(inner, &) {
                      inner.spawn(BODY(&) {
                        bool told = false;
                        try {
                          WAIT(sleep_for(1000h));
                        } catch (const cancelled&) {
                          told = true;
                        }
                        if (told) {
                          WAIT(sleep_for(1s));  // takes its time to clean up
                          ++cleaned;
                        }
                      });
                      WAIT(sleep_for(1000h));
                    });
              });
            }
            WAIT(sleep_for(1000h));
          });
    });
    s.spawn(BODY(&) {
      WAIT(sleep_for(1s));
      outer.cancel();
      outer.cancel();  // asking twice is asking once
      try {
        WAIT(outer.join());
      } catch (const strand_cancelled&) {
        cleaned += 10;
      }
    });
    s.run();
    REQUIRE(cleaned == 14);
    REQUIRE(s.now() == time_point{} + 2s);
  });
}

TEST_CASE(KIND "a body that throws cancels what it spawned, started or not") {
  under_policies(scope_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::semaphore never(0);
    auto failing = s.spawn(BODY(&) {
      IN_SCOPE(
          s, SCOPE_BODY(children, &) {
            for (int i = 0; i < 3; ++i) {
              children.spawn(BODY(&never) { WAIT(never.P()); });
            }
            WAIT(yield());
            for (int i = 0; i < 3; ++i) {
              children.spawn(BODY(&never) { WAIT(never.P()); });
            }
            throw std::runtime_error("body");
          });
    });
    s.spawn(BODY(&) {
      std::string seen;
      try {
        WAIT(failing.join());
      } catch (const std::runtime_error& error) {
        seen = error.what();
      }
      REQUIRE(seen == "body");
    });
    s.run();
    REQUIRE(never.permits() == 0);
  });
}

TEST_CASE(KIND "the scheduler may be destroyed while scopes are open") {
  int destroyed = 0;
  {
    scheduler s;
    s.spawn(BODY(&) {
      const exit_counter guard{destroyed};
      IN_SCOPE(
          s, SCOPE_BODY(children, &) {
            for (int i = 0; i < 3; ++i) {
              children.spawn(BODY(&destroyed) {
                const exit_counter inner{destroyed};
                heddle::coop::semaphore never(0, "never");
                WAIT(never.P());
              });
            }
            END_BODY;
          });
    });
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 4);
}

TEST_CASE(KIND "the scheduler may be destroyed while a scope that failed waits for its strands") {
  int destroyed = 0;
  {
    scheduler s;
    heddle::coop::semaphore never(0, "never");
    s.spawn(BODY(&) {
      const exit_counter guard{destroyed};
      IN_SCOPE(
          s, SCOPE_BODY(children, &) {
            children.spawn(BODY(&) {
              const exit_counter inner{destroyed};
              bool told = false;
              try {
                WAIT(never.P());
              } catch (const cancelled&) {
                told = true;
              }
              if (told) WAIT(never.P());  // does not end when it is asked to
            });
            WAIT(yield());
            throw std::runtime_error("body");
          });
    });
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 2);
}
