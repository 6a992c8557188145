// Included once for each kind of strand: strand_context and strand_local.
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/strand_context.hpp"
#include "heddle/coop/strand_local.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "strand_kinds.hpp"

#if STACKFUL
#define AS_TASK(...) on_fiber(__VA_ARGS__)
#define IN_SCOPE(s, name) in_scope(s, [&](scope & name)
#else
#define AS_TASK(...) (__VA_ARGS__)()
#define IN_SCOPE(s, name) co_await in_scope(s, [&](scope & name) -> task<>
#endif

namespace {

const context_key<std::string> user;
const context_key<int> level;

}  // namespace

TEST_CASE(KIND "strands inherit the values of the one that spawned them, to any depth") {
  scheduler s({.clock = clock_policy::simulated});
  std::string trace;
  const auto say = [&] {
    const std::string* const who = strand_context::current().find(user);
    const int* const how_deep = strand_context::current().find(level);
    trace += (who != nullptr ? *who : "nobody") + ' ' +
             (how_deep != nullptr ? std::to_string(*how_deep) : "-") + '\n';
  };
  s.spawn(BODY(&) {
    const strand_context ann = strand_context().with(user, "Ann").with(level, 1);
    auto inner = BODY(&) {
      say();
      WAIT(s.spawn(BODY(&) {
              const strand_context deeper = strand_context::current().with(level, 2);
              auto innermost = BODY(&) {
                say();
                bool is_posted = false;
                s.post([&] {
                  say();  // by nobody
                  is_posted = true;
                });
                while (!is_posted) WAIT(yield());
              };
              CHECK(WAIT(in_context(deeper, AS_TASK(innermost))));
              say();
            }).join());
    };
    CHECK(WAIT(in_context(ann, AS_TASK(inner))));
    say();
  });
  s.run();
  CHECK(trace == "Ann 1\nAnn 2\nnobody -\nAnn 1\nnobody -\n");
}

TEST_CASE(KIND "at a context's deadline all strands in it are cancelled, and nobody else") {
  scheduler s({.clock = clock_policy::simulated});
  int ended = 0;
  int cancelled_ones = 0;
  s.spawn(BODY(&) {
    const strand_context limited = strand_context::current().with_timeout(2s);
    auto work = BODY_OF(int, &) {
      IN_SCOPE(s, all) {
        for (int i = 1; i <= 4; ++i) {
          all.spawn(BODY(&, i) {
            try {
              WAIT(sleep_for(i * 900ms));  // the last two are too late
              ++ended;
            } catch (const cancelled&) {
              ++cancelled_ones;
              throw;
            }
          });
        }
        WAIT(sleep_for(1s));
      });
      RETURN 1;
    };
    const auto result = WAIT(in_context(limited, AS_TASK(work)));
    CHECK_FALSE(result);
    CHECK(limited.error() == std::errc::timed_out);
    CHECK(s.now() == time_point(2s));
    CHECK_FALSE(strand_context::current().deadline());
    WAIT(sleep_for(1s));  // this strand goes on
    ++ended;
  });
  s.run();
  CHECK(ended == 3);
  CHECK(cancelled_ones == 2);
}

TEST_CASE(KIND "a context whose strands have ended holds nobody up until its deadline") {
  scheduler s({.clock = clock_policy::simulated});
  strand_context hour;
  s.spawn(BODY(&) {
    hour = strand_context().with_timeout(1h);
    auto work = BODY_OF(int, &) {
      WAIT(sleep_for(1s));
      RETURN 5;
    };
    CHECK(WAIT(in_context(hour, AS_TASK(work))) == 5);
  });
  s.run();
  CHECK(s.now() == time_point(1s));
  CHECK_FALSE(hour.error());
}

TEST_CASE(KIND "the earliest of a context's deadlines counts") {
  scheduler s({.clock = clock_policy::simulated});
  s.spawn(BODY(&) {
    const strand_context outer = strand_context().with_timeout(1s);
    const strand_context inner = outer.with_timeout(1h);
    const strand_context shorter = outer.with_timeout(300ms);
    CHECK(inner.deadline() == time_point(1s));
    CHECK(shorter.deadline() == time_point(300ms));
    auto sleeps = BODY(&) { WAIT(sleep_for(2h)); };
    CHECK_FALSE(WAIT(in_context(shorter, AS_TASK(sleeps))));
    CHECK(s.now() == time_point(300ms));
    CHECK(shorter.error() == std::errc::timed_out);
    CHECK_FALSE(outer.error());
    CHECK_FALSE(WAIT(in_context(inner, AS_TASK(sleeps))));
    CHECK(s.now() == time_point(1s));
    CHECK(outer.error() == std::errc::timed_out);
    CHECK(inner.error() == std::errc::timed_out);
  });
  s.run();
}

TEST_CASE(KIND "cancel() ends what runs in a context and in those made of it, once") {
  under_policies(seeds(20, 3), [](const scheduler_options& options) {
    scheduler s(options);
    semaphore never(0, "never");
    int cleaned = 0;
    int never_ran = 0;
    s.spawn(BODY(&) {
      const strand_context all = strand_context().with_cancellation();
      auto work = BODY(&) {
        try {
          WAIT(never.P());
        } catch (...) {
          ++cleaned;
          throw;
        }
      };
      auto cleans_up = BODY(&) {
        bool is_cancelled = false;
        try {
          WAIT(never.P());
        } catch (const cancelled&) {
          is_cancelled = true;
        }
        CHECK(is_cancelled);
        // It may wait, and spawn, to clean up.
        WAIT(yield());
        WAIT(s.spawn(BODY(&) {
                WAIT(yield());
                ++cleaned;
              }).join());
      };
      const auto first = s.spawn(BODY(&) { WAIT(in_context(all, AS_TASK(work))); });
      const auto second = s.spawn(BODY(&) { WAIT(in_context(all.with(level, 1), AS_TASK(work))); });
      const auto third = s.spawn(BODY(&) { WAIT(in_context(all, AS_TASK(cleans_up))); });
      WAIT(sleep_for(1ms));
      all.cancel();
      all.cancel();
      CHECK(all.error() == std::errc::operation_canceled);
      auto late = BODY(&) {
        ++never_ran;
        WAIT(yield());
      };
      CHECK_FALSE(WAIT(in_context(all, AS_TASK(late))));
      WAIT(first.join());
      WAIT(second.join());
      WAIT(third.join());
    });
    s.run();
    CHECK(cleaned == 3);
    CHECK(never_ran == 0);
  });
}

TEST_CASE(KIND "an error in a context is thrown; a cancellation from outside is passed on") {
  scheduler s({.clock = clock_policy::simulated});
  std::string trace;
  s.spawn(BODY(&) {
    const strand_context context = strand_context().with_timeout(1h);
    auto fails = BODY(&) {
      WAIT(yield());
      throw std::runtime_error("no");
    };
    try {
      WAIT(in_context(context, AS_TASK(fails)));
    } catch (const std::runtime_error&) {
      trace += 'e';
    }
    const auto outer = s.spawn(BODY(&) {
      auto sleeps = BODY(&) {
        try {
          WAIT(sleep_for(1min));
        } catch (const cancelled&) {
          trace += 'c';
          throw;
        }
      };
      WAIT(in_context(context, AS_TASK(sleeps)));
      trace += '?';
    });
    WAIT(sleep_for(1s));
    outer.cancel();
    CHECK_THROWS_AS(WAIT(outer.join()), strand_cancelled);
    CHECK_FALSE(context.error());
  });
  s.run();
  CHECK(trace == "ec");
}

TEST_CASE(KIND "strands in a context are destroyed with their scheduler") {
  int gone = 0;
  strand_context context = strand_context().with_deadline(time_point::max() - 1h);
  {
    scheduler s({.clock = clock_policy::simulated});
    semaphore never(0);
    auto waits = BODY(&) {
      const exit_counter counter{gone};
      context.cancel();  // this strand, at its next wait
      WAIT(never.P());
    };
    auto destroyed = BODY(&) {
      const exit_counter counter{gone};
      WAIT(never.P());
    };
    s.spawn(BODY(&) { WAIT(in_context(context, AS_TASK(waits))); });
    s.spawn(BODY(&) { WAIT(in_context(strand_context().with(level, 1), AS_TASK(destroyed))); });
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(gone == 1);
  }
  CHECK(gone == 2);
  CHECK(context.error() == std::errc::operation_canceled);
}

TEST_CASE(KIND "each strand has a strand_local of its own, which ends with it") {
  struct counted {
    int value = 10;
    int* destroyed;
    counted(int* its_counter) : destroyed(its_counter) {}
    counted(const counted&) = default;
    ~counted() { ++*destroyed; }
  };
  int destroyed = 0;
  {
    const strand_local<counted> own{counted(&destroyed)};
    const strand_local<std::string> name("?");
    destroyed = 0;
    scheduler s;
    std::vector<int> values;
    for (int i = 0; i < 3; ++i) {
      s.spawn(BODY(&, i) {
        for (int round = 0; round < 2; ++round) {
          own->value += i;
          *name += std::to_string(i);
          WAIT(yield());
        }
        values.push_back(own->value);
        CHECK(*name == "?" + std::to_string(i) + std::to_string(i));
        CHECK(destroyed == i);
      });
    }
    s.run();
    CHECK(values == std::vector<int>{10, 12, 14});
    CHECK(destroyed == 3);
    destroyed = 0;
  }
  CHECK(destroyed == 1);  // the one that they were copied from
}

TEST_CASE(KIND "a strand_local of a strand that is destroyed can be used by its destructors") {
  const strand_local<int> own(0);
  int seen = 0;
  {
    scheduler s;
    semaphore never(0);
    s.spawn(BODY(&) {
      struct reads {
        const strand_local<int>& own;
        int& seen;
        ~reads() { seen = *own; }
      } const at_end{own, seen};
      *own = 8;
      WAIT(never.P());
    });
    CHECK_THROWS_AS(s.run(), deadlock);
  }
  CHECK(seen == 8);
}

#undef AS_TASK
#undef IN_SCOPE
